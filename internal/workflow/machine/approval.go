package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// openApproval passes if a person agreed to exactly this commit, or if no one needs to be asked; otherwise the run stops for a person.
func (m *machine) openApproval() {
	j := &m.run.Details
	switch {
	case j.Head == j.BaseCommit:
		m.fail(m.problem(workflow.CategoryExecution, workflow.NoChangeCode, "there is nothing to merge", "every step is done and no file differs from "+j.Base), workflow.Action{})
	case j.Approved() && j.SetUp.NeedsAgreement() && j.Approval.SetUp == j.SetUp.Content():
		// The question that was approved showed the commands of this setup.
		j.SetUp.Agreed = &workflow.Agreement{Content: j.SetUp.Content(), By: j.Approval.By, At: j.Approval.At}
		m.order(workflow.Action{Kind: workflow.KeepAgreement})
	case j.SetUp.NeedsAgreement():
		m.order(workflow.Action{Kind: workflow.FindAgreement})
	default:
		m.askApproval()
	}
}

// askApproval passes or stops the run, once it is known what a person agreed to before.
func (m *machine) askApproval() {
	r, j := &m.run, &m.run.Details
	reasons := slices.Concat(moveNotes(j, false), j.Flags)
	if !j.Settings.Proves() {
		why := "no test is configured, so nothing proves the change"
		if j.Settings.HasTests() {
			why = "no test is configured: only the request's own tests ran"
		}
		reasons = append([]string{why}, reasons...)
	}
	switch {
	case j.SetUp.NeedsAgreement():
	case j.Approved():
		m.advance("by " + cmp.Or(j.Approval.By, "a person"))
		return
	case j.Settings.AutoApprove && len(reasons) == 0 && j.Rejection == nil: // who sent it back has not seen what came of it
		m.advance("automatic")
		return
	case j.Settings.ApproveOnForge && len(reasons) == 0 && !j.SentBack():
		m.advance("asked for on the forge")
		return
	}
	title, message := "the change waits for your approval", "the change is ready: "+wording.ShortID(j.Head)+" on "+j.Branch
	switch {
	case j.SentBack():
		title = "the change is still the one that was sent back"
		message = wording.ShortID(j.Head) + " on " + j.Branch + " is as it was;\n" + j.Rejection.String()
		if note := j.Phases[workflow.ReviewFix].Note; note != "" {
			message += ";\n" + note
		}
	case j.Rejection != nil:
		message += ";\nbefore it was reworked, " + j.Rejection.String()
	}
	if failure := j.SetUp.Failure(); failure != "" {
		message += ";\n" + failure + "; the tests ran without it"
	}
	if taken := moveNotes(j, true); len(taken) > 0 {
		message += ";\n" + wording.Join(taken)
	}
	if len(reasons) > 0 {
		message += ";\na person must look because " + wording.Join(reasons)
	}
	agree := "agree"
	switch to := j.Settings.PushesTo; {
	case strings.Contains(to, "/"):
		agree = fmt.Sprintf("agree to push it to the fork %s and offer it to %s from there", to, j.Base)
	case to != "":
		agree = fmt.Sprintf("agree to merge it into %s and push that to %s", j.Base, to)
	}
	next := []workflow.NextStep{r.Ask("look at it", workflow.VerbDiff), r.Ask(agree, workflow.VerbApprove), r.SendBack("or send it back")}
	if j.SentBack() {
		next = []workflow.NextStep{r.Ask("see what the agent said", workflow.VerbLogs), r.SendBack("then send it back in other words"),
			r.GiveUp("or give it up; its work stays on a ref"), r.Ask("or "+agree+" after all, as it is", workflow.VerbApprove)}
	}
	if j.SetUp.NeedsAgreement() {
		message += ";\n" + j.SetUp.Question()
		next = append(next, r.GiveUp("or say yourself how it is set up (environment: set_up: in .signalbox/config.yaml) and begin again").Following(r.Ask("", workflow.VerbRun)))
	}
	stop := m.problem(workflow.CategoryInput, workflow.ApprovalRequired, title, message)
	stop.Severity, stop.Next = workflow.Minor, next
	stop.RelatedPaths = append([]string{r.Artifacts.ReportMD}, r.Artifacts.Patches...)
	m.stop(stop)
}

// moveNotes returns the moves that the question for approval names, one sentence each: those that were taken up, or the others. Commits that stay
// out of the change need a person even if approval is automatic.
func moveNotes(j *workflow.Details, takenUp bool) (said []string) {
	for _, b := range j.Moves {
		if !b.Agreed && b.TakenUp == takenUp {
			said = append(said, b.String())
		}
	}
	return said
}
