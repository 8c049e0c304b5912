package machine

import (
	"cmp"
	"fmt"
	"slices"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// openApproval passes when a person agreed to exactly this commit, or when
// none needs to be asked; else the run stops for one.
func (m *machine) openApproval() {
	j := &m.run.Details
	switch {
	case j.Head == j.BaseCommit:
		m.fail(m.problem(workflow.CategoryExecution, workflow.NoChangeCode, "there is nothing to merge", "every step is done and no file differs from "+j.Base), workflow.Action{})
	case j.Approval != nil && j.Approval.Commit == j.Head && m.approvedSetUp():
	case j.SetUp.NeedsAgreement():
		m.order(workflow.Action{Kind: workflow.FindAgreement})
	default:
		m.askApproval()
	}
}

// askApproval passes or stops the run, once it is known what a person agreed to before.
func (m *machine) askApproval() {
	r, j := &m.run, &m.run.Details
	switch {
	case j.SetUp.NeedsAgreement():
	case j.Approval != nil && j.Approval.Commit == j.Head:
		m.advance("by " + cmp.Or(j.Approval.By, "a person"))
		return
	case j.Settings.AutoApprove && len(m.reasonsToLook()) == 0:
		m.advance("automatic")
		return
	}
	message := "the change is ready: " + wording.ShortID(j.Head) + " on " + j.Branch
	if failure := j.SetUp.Failure(); failure != "" {
		message += ";\n" + failure + "; the tests ran without it"
	}
	if taken := j.MoveNotes(true); len(taken) > 0 {
		message += ";\n" + wording.Join(taken)
	}
	if reasons := m.reasonsToLook(); len(reasons) > 0 {
		message += ";\na person must look because " + wording.Join(reasons)
	}
	if j.SetUp.NeedsAgreement() {
		message += ";\n" + j.SetUp.Question()
	}
	stop := m.problem(workflow.CategoryInput, workflow.ApprovalRequired, "the change waits for your approval", message)
	stop.Severity = workflow.Minor
	stop.RelatedPaths = append([]string{r.Artifacts.ReportMD}, r.Artifacts.Patches...)
	agree := "agree"
	if to := j.Settings.PushesTo; to != "" {
		agree = fmt.Sprintf("agree, and let %s be merged and pushed to %s", j.Base, to)
	}
	stop.Next = []workflow.NextStep{r.Ask("look at it", workflow.VerbDiff), r.Ask(agree, workflow.VerbApprove), r.SendBack("or send it back")}
	if j.SetUp.NeedsAgreement() {
		stop.Next = append(stop.Next, r.GiveUp("or say yourself how it is set up (environment: set_up: in .signalbox/config.yaml) and begin again").Following(r.Ask("", workflow.VerbRun)))
	}
	m.stop(stop)
}

// reasonsToLook are why a person is asked even where approval is automatic.
func (m *machine) reasonsToLook() []string {
	j := &m.run.Details
	flags := slices.Concat(j.MoveNotes(false), j.Flags)
	if !j.Settings.Proves() {
		return append([]string{"no test is configured, so nothing proves the change"}, flags...)
	}
	return flags
}

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
