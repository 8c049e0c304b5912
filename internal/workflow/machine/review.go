package machine

import (
	"cmp"
	"fmt"
	"slices"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

func (m *machine) reviewAnswered(e workflow.ReviewAnswered) {
	if len(e.Review.Findings) == 0 {
		m.run.Details.Findings = nil
		m.advance("passed")
		return
	}
	findings := make([]workflow.Finding, len(e.Review.Findings))
	for i, f := range e.Review.Findings {
		f.Source = workflow.FoundByReview
		findings[i] = f
	}
	m.roundFailed(findings)
}

func (m *machine) stressEnded(e workflow.TestsEnded) {
	if m.unsettled(e, false) {
		return
	}
	if e.Passed {
		m.advance("passed")
		return
	}
	m.roundFailed([]workflow.Finding{{Source: workflow.FoundByStress, Text: "The stress test fails:\n" + e.Summary}})
}

// roundFailed sends the change back with what was found, or asks a person when
// the rounds are used up.
func (m *machine) roundFailed(findings []workflow.Finding) {
	j := &m.run.Details
	j.Findings = findings
	m.close(workflow.StepDone, wording.Count(len(findings), "finding"))
	j.Used.ReviewRounds++
	if j.Used.ReviewRounds >= j.Settings.Limits.ReviewRounds {
		j.Phase = workflow.ReviewFix // where a resumed run goes on
		m.reopenAfter(workflow.ReviewFix)
		m.block(workflow.ReviewLoopExceeded, workflow.CategoryExecution, workflow.ReviewLoopExceededCode,
			fmt.Sprintf("%d reviews in a row found something; last: %s", j.Used.ReviewRounds, findings[0].Text),
			m.run.Ask("look at the change and the findings", workflow.VerbStatus))
		return
	}
	m.enter(workflow.ReviewFix)
}

// openMend begins a change that answers the findings.
func (m *machine) openFix() {
	j := &m.run.Details
	untested := j.Untested()
	if len(j.Findings) == 0 && !untested {
		m.advance("")
		return
	}
	j.Mends++
	j.MendAttempt = 0
	j.StepBase = j.Head
	j.Used.Autofix, j.Used.AgentRetries = 0, 0
	if len(j.Findings) == 0 {
		m.testChange(fixID(j.Mends), 1)
		return
	}
	m.callImplementer("")
}

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
	stop.Next = []workflow.NextStep{r.Ask("look at it", workflow.VerbDiff), r.Ask(m.agreeingTo(), workflow.VerbApprove), r.SendBack("or send it back")}
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

// agreeingTo says what agreeing does beyond this machine, if anything.
func (m *machine) agreeingTo() string {
	if to := m.run.Details.Settings.PushesTo; to != "" {
		return fmt.Sprintf("agree, and let %s be merged and pushed to %s", m.run.Details.Base, to)
	}
	return "agree"
}
