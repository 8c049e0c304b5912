package machine

import (
	"fmt"
	"slices"

	"signalbox/internal/workflow"
)

// failer is what *testing.T and *rapid.T have in common here.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkLegal holds every promise that one transition can break.
func checkLegal(t failer, before workflow.Run, event workflow.Event, after workflow.Run, actions []workflow.Action) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s: %s + %s → %s: %s", before.Details.Phase, before.State, eventName(event), after.State, fmt.Sprintf(format, args...))
	}
	if err := after.Validate(); err != nil {
		fail("illegal document: %v", err)
	}
	if !before.State.MayBecome(after.State) {
		fail("R16 does not allow this")
	}
	j := after.Details
	if after.State == workflow.Running && len(actions) == 0 {
		fail("a running run with nothing to do")
	}
	if after.State.Final() && len(actions) > 0 {
		fail("a final run with something to do")
	}
	if after.State == workflow.Running && !j.Canceling {
		checkPosition(fail, after)
	}
	if after.Error != nil {
		if err := checkSteps(after.Error.Next); err != nil {
			fail("the stop %s: %v", after.Error.ReasonCode, err)
		}
		named := func(s workflow.NextStep) bool { return s.Verb != "" }
		if !slices.ContainsFunc(after.Error.Next, func(s workflow.NextStep) bool { return s.Has(named) }) {
			fail("the stop %s names no verb: %q", after.Error.ReasonCode, allSaid(after.Error))
		}
	}
	for _, a := range actions {
		if a.Kind == workflow.MergePullRequest && (j.PullRequest == nil || j.PullRequest.Checked == nil || j.PullRequest.Checked.Head != j.Head) {
			fail("a merge of something unchecked")
		}
		if a.Kind == workflow.MergePullRequest && j.Settings.ApproveOnForge && (j.Approval == nil || j.Approval.Commit != j.Head) {
			fail("a merge of something that nobody approved on the forge")
		}
		if slices.Contains([]workflow.ActionKind{workflow.OpenPullRequest, workflow.WatchChecks, workflow.MergePullRequest}, a.Kind) && j.SetUp.NeedsAgreement() {
			fail("%s on the word of a setup that a model wrote and nobody agreed to", a.Kind)
		}
		if a.Kind == workflow.OpenPullRequest && !j.Settings.AutoApprove && !j.Settings.ApproveOnForge && (j.Approval == nil || j.Approval.Commit != j.Head) {
			fail("a pull request of something not approved")
		}
		if a.Draft && (!j.Settings.Drafts || after.Details.Phase >= workflow.ApprovalWait) {
			fail("a draft of a change that is done")
		}
		if a.Kind == workflow.OpenPullRequest && len(j.Flags) > 0 && (j.Approval == nil || j.Approval.Commit != j.Head) {
			fail("a flagged change went past the person")
		}
		if a.Kind == workflow.OpenPullRequest && j.SentBack() {
			fail("a change went on that a person sent back")
		}
	}
	if keys := map[string]bool{}; true {
		for _, a := range actions {
			if keys[a.Key] {
				fail("two pending actions share the key %s", a.Key)
			}
			keys[a.Key] = true
		}
	}
}

// checkPosition holds that a running run shows one phase at work, the present
// one, and a stage of it.
func checkPosition(fail func(string, ...any), r workflow.Run) {
	for _, record := range r.Details.Phases {
		if record.Status == workflow.StepRunning && record.Phase != r.Details.Phase {
			fail("%s is shown as at work", record.Phase)
		}
	}
	row := r.Details.Phase.Position()
	if r.Stage != row.Stage && !slices.Contains(row.Stages, r.Stage) {
		fail("stage %s is none of the phase's", r.Stage)
	}
}
