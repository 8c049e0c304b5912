package machine

import (
	"cmp"

	"signalbox/internal/workflow"
)

// agreementFound goes on with the approval, by what is remembered of earlier runs.
func (m *machine) agreementFound(e workflow.AgreementFound) {
	if e.Content != "" {
		m.run.Details.SetUp.Agreed = &workflow.Agreement{Content: e.Content, By: "a person, in an earlier run", At: m.now}
	}
	m.askApproval()
}

// approvedSetUp takes the approval of the change for one of the set-up, too: the question for it showed the commands.
func (m *machine) approvedSetUp() (keep bool) {
	j := &m.run.Details
	if !j.SetUp.NeedsAgreement() || j.Approval.SetUp != j.SetUp.Content() {
		return false
	}
	j.SetUp.Agreed = &workflow.Agreement{Content: j.SetUp.Content(), By: j.Approval.By, At: j.Approval.At}
	m.order(workflow.Action{Kind: workflow.KeepAgreement})
	return true
}

func (m *machine) agreementKept(e workflow.AgreementKept) {
	note := "by " + cmp.Or(m.run.Details.Approval.By, "a person") + ", and to the set-up's commands"
	if e.Problem != "" {
		note += ", for this run alone: " + e.Problem
	}
	m.advance(note)
}
