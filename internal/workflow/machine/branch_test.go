package machine

import (
	"strings"
	"testing"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

// at drives a run along its straight way until the action kind is the next, and answers it no more.
func at(t *testing.T, s workflow.Settings, kind workflow.ActionKind, role workflow.Role) workflow.Run {
	t.Helper()
	run := newRun(s)
	run, _ = Decide(run, workflow.Admitted{Epoch: 1}, epoch)
	for range 100 {
		if run.State != workflow.Running {
			t.Fatalf("%s before any %s: %v", run.State, kind, run.Error)
		}
		a := run.Details.Pending[0]
		if a.Kind == kind && (role == "" || a.Role == role) {
			return run
		}
		run, _ = Decide(run, goesWell(run), epoch)
	}
	t.Fatalf("there is no %s", kind)
	return run
}

var byAda = workflow.BranchMoved{Commit: "ada", OnTop: true, Commits: 2, By: []string{"Ada"}, KeptRef: "refs/signalbox/kept/42/ada"}

func TestCommitsOnTheBranchAreTakenUpWhereNothingElseIsInHand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind  workflow.ActionKind
		role  workflow.Role
		after workflow.ActionKind // the next action; empty where the branch can wait
		phase workflow.Phase
	}{
		"before the plan it waits":         {workflow.CallAgent, workflow.Planner, "", workflow.DesignCheck},
		"at the start of a step":           {workflow.CallAgent, workflow.Implementer, workflow.CallAgent, workflow.TDDRed},
		"while a change is recorded":       {workflow.RecordChange, "", "", workflow.TDDRed},
		"while tests run":                  {workflow.RunTests, "", "", workflow.TDDRed},
		"before a review":                  {workflow.CallAgent, workflow.Reviewer, workflow.RunTests, workflow.ReviewFix},
		"before the pull request is there": {workflow.OpenPullRequest, "", workflow.RunTests, workflow.ReviewFix},
		"before the checks":                {workflow.WatchChecks, "", workflow.RunTests, workflow.ReviewFix},
		"a merge in hand goes first":       {workflow.MergePullRequest, "", "", workflow.MergeCleanup},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := at(t, settings(workflow.WorkflowFull, true), c.kind, c.role)
			after, _ := Decide(run, byAda, epoch)
			if c.after == "" {
				if after.Details.Transition != run.Details.Transition {
					t.Fatalf("it was decided upon: %s", after.Progress.Message)
				}
				return
			}
			j := after.Details
			if j.Head != "ada" || j.StepBase != "ada" || j.BranchAt != "ada" || j.Approval != nil {
				t.Errorf("head %s, step base %s, branch at %s, approval %v", j.Head, j.StepBase, j.BranchAt, j.Approval)
			}
			if j.Phase != c.phase || j.Pending[0].Kind != c.after {
				t.Errorf("it goes on with %s in %s", j.Pending[0].Kind, j.Phase)
			}
			if want := "2 commits by Ada on the branch were added to the change"; !strings.Contains(after.Progress.Message, want) {
				t.Errorf("it says %q", after.Progress.Message)
			}
		})
	}
}

func TestCommitsThatAreTakenUpMakeAnApprovalVoid(t *testing.T) {
	t.Parallel()
	s := settings(workflow.WorkflowFull, false)
	run := at(t, s, workflow.RunTests, "")
	for run.State == workflow.Running {
		run, _ = Decide(run, goesWell(run), epoch)
	}
	if !settledAt(&run.Details, workflow.ApprovalWait) {
		t.Fatalf("it is %s at %s", run.State, run.Details.Phase)
	}
	if after, _ := Decide(run, byAda, epoch); after.Details.Head == "ada" {
		t.Error("a run that stands still changed")
	}
	run, _ = Decide(run, workflow.Approved{Commit: run.Details.Head, By: "bob"}, epoch)
	run, _ = Decide(run, byAda, epoch)
	run, _ = Decide(run, workflow.Admitted{Epoch: 2}, epoch)
	if a := run.Details.Pending[0]; a.Kind != workflow.RunTests || run.Details.Approval != nil {
		t.Fatalf("it goes on with %s, approval %v", a.Kind, run.Details.Approval)
	}
	reviewed := false
	for run.State == workflow.Running {
		reviewed = reviewed || run.Details.Pending[0].Role == workflow.Reviewer
		run, _ = Decide(run, goesWell(run), epoch)
	}
	if !reviewed || run.Error.ReasonCode != workflow.ApprovalRequired || !strings.Contains(run.Error.Message, "2 commits by Ada") {
		t.Errorf("reviewed %v, then %v: %s", reviewed, run.Error, run.Error.Message)
	}
	run, _ = Decide(run, workflow.Approved{Commit: "ada", By: "bob"}, epoch)
	if !run.Details.Moves[0].Agreed {
		t.Error("the approval does not count for the commits")
	}
}

func TestCommitsBesideTheChangeAreSetAsideAndAskForAPerson(t *testing.T) {
	t.Parallel()
	beside := workflow.BranchMoved{Commit: "amended", Commits: 1, By: []string{"Ada"}, KeptRef: "refs/signalbox/kept/42/amended"}
	for name, kind := range map[string]workflow.ActionKind{"while steps are carried out": workflow.RunTests, "after the approval": workflow.WatchChecks} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := at(t, settings(workflow.WorkflowFull, true), kind, "")
			head := run.Details.Head
			run, _ = Decide(run, beside, epoch)
			if run.Details.BranchAt != "amended" || run.Details.Head != head {
				t.Errorf("branch at %s, head %s", run.Details.BranchAt, run.Details.Head)
			}
			for run.State == workflow.Running {
				run, _ = Decide(run, goesWell(run), epoch)
			}
			if run.State != workflow.NeedsInput || !strings.Contains(run.Error.Message, "1 commit by Ada on the branch was left out of the change (git log refs/signalbox/kept/42/amended)") {
				t.Errorf("%s: %v", run.State, run.Error)
			}
		})
	}
}

func TestAPersonsCommitsAreHeldToTheRulesOfEveryChange(t *testing.T) {
	t.Parallel()
	run := at(t, settings(workflow.WorkflowFull, true), workflow.OpenPullRequest, "")
	bad, flagged := byAda, byAda
	bad.Whole = []policy.FileChange{{Path: ".signalbox/config.yaml", NewMode: "100644"}}
	flagged.Whole = []policy.FileChange{{Path: ".github/workflows/x.yml", NewMode: "100644"}}
	if after, _ := Decide(run, bad, epoch); after.State != workflow.NeedsInput || after.Error.ReasonCode != workflow.BranchRefused || after.Details.Head == "ada" {
		t.Errorf("%s: %v", after.State, after.Error)
	}
	after, _ := Decide(run, flagged, epoch)
	for after.State == workflow.Running {
		after, _ = Decide(after, goesWell(after), epoch)
	}
	if after.State != workflow.NeedsInput || !strings.Contains(after.Error.Message, "x.yml") {
		t.Errorf("%s: %v", after.State, after.Error)
	}
}

func TestAConflictIsResolvedOnTopOfAPersonsCommits(t *testing.T) {
	t.Parallel()
	run := at(t, settings(workflow.WorkflowFull, true), workflow.OpenPullRequest, "")
	run, _ = Decide(run, byAda, epoch)
	for run.Details.Pending[0].Kind != workflow.WatchChecks {
		run, _ = Decide(run, goesWell(run), epoch)
	}
	run, _ = Decide(run, workflow.ChecksEnded{Outcome: workflow.Outcome{Key: run.Details.Pending[0].Key}, State: workflow.ChecksConflict}, epoch)
	if run.Details.Head != "ada" || run.Details.Pending[0].Kind != workflow.MergeBase {
		t.Errorf("%v is done to %s", run.Details.Pending, run.Details.Head)
	}
}

func settledAt(j *workflow.Details, p workflow.Phase) bool {
	return j.Phase == p && len(j.Pending) == 0
}
