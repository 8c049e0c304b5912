package workflow

import (
	"strings"
	"testing"
)

// at drives a run along its straight way until the action kind is the next, and answers it no more.
func at(t *testing.T, s Settings, kind ActionKind, role Role) Run {
	t.Helper()
	run := newRun(s)
	run, _ = Decide(run, Admitted{Epoch: 1}, epoch)
	for range 100 {
		if run.State != Running {
			t.Fatalf("%s before any %s: %v", run.State, kind, run.Error)
		}
		a := run.Journey.Pending[0]
		if a.Kind == kind && (role == "" || a.Role == role) {
			return run
		}
		run, _ = Decide(run, goesWell(run), epoch)
	}
	t.Fatalf("there is no %s", kind)
	return run
}

var byAda = BranchMoved{Commit: "ada", OnTop: true, Commits: 2, By: []string{"Ada"}, KeptRef: "refs/signalbox/kept/42/ada"}

func TestCommitsOnTheBranchAreTakenUpWhereNothingElseIsInHand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind  ActionKind
		role  Role
		after ActionKind // the next action; empty where the branch can wait
		phase Phase
	}{
		"before the plan it waits":         {CallAgent, Planner, "", DesignCheck},
		"at the start of a step":           {CallAgent, Implementer, CallAgent, TDDRed},
		"while a change is recorded":       {RecordChange, "", "", TDDRed},
		"while tests run":                  {RunTests, "", "", TDDRed},
		"before a review":                  {CallAgent, Reviewer, RunTests, ReviewFix},
		"before the pull request is there": {OpenPullRequest, "", RunTests, ReviewFix},
		"before the checks":                {WatchChecks, "", RunTests, ReviewFix},
		"a merge in hand goes first":       {MergePullRequest, "", "", MergeCleanup},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := at(t, settings(WorkflowFull, true), c.kind, c.role)
			after, _ := Decide(run, byAda, epoch)
			if c.after == "" {
				if after.Journey.Transition != run.Journey.Transition {
					t.Fatalf("it was decided upon: %s", after.Progress.Message)
				}
				return
			}
			j := after.Journey
			if j.Head != "ada" || j.StepBase != "ada" || j.BranchAt != "ada" || j.Approval != nil {
				t.Errorf("head %s, step base %s, branch at %s, approval %v", j.Head, j.StepBase, j.BranchAt, j.Approval)
			}
			if j.Phase != c.phase || j.Pending[0].Kind != c.after {
				t.Errorf("it goes on with %s in %s", j.Pending[0].Kind, j.Phase)
			}
			if want := "2 commits by Ada on the branch were taken up"; !strings.Contains(after.Progress.Message, want) {
				t.Errorf("it says %q", after.Progress.Message)
			}
		})
	}
}

func TestCommitsThatAreTakenUpMakeAnApprovalVoid(t *testing.T) {
	t.Parallel()
	s := settings(WorkflowFull, false)
	run := at(t, s, RunTests, "")
	for run.State == Running {
		run, _ = Decide(run, goesWell(run), epoch)
	}
	if !run.Journey.settledAt(ApprovalWait) {
		t.Fatalf("it is %s at %s", run.State, run.Journey.Phase)
	}
	if after, _ := Decide(run, byAda, epoch); after.Journey.Head == "ada" {
		t.Error("a run that stands still changed")
	}
	run, _ = Decide(run, Approved{Commit: run.Journey.Head, By: "bob"}, epoch)
	run, _ = Decide(run, byAda, epoch)
	run, _ = Decide(run, Admitted{Epoch: 2}, epoch)
	if a := run.Journey.Pending[0]; a.Kind != RunTests || run.Journey.Approval != nil {
		t.Fatalf("it goes on with %s, approval %v", a.Kind, run.Journey.Approval)
	}
	reviewed := false
	for run.State == Running {
		reviewed = reviewed || run.Journey.Pending[0].Role == Reviewer
		run, _ = Decide(run, goesWell(run), epoch)
	}
	if !reviewed || run.Error.ReasonCode != ApprovalRequired || !strings.Contains(run.Error.Message, "2 commits by Ada") {
		t.Errorf("reviewed %v, then %v: %s", reviewed, run.Error, run.Error.Message)
	}
	run, _ = Decide(run, Approved{Commit: "ada", By: "bob"}, epoch)
	if !run.Journey.Moves[0].Agreed {
		t.Error("the approval does not count for the commits")
	}
}

func TestCommitsBesideTheChangeAreSetAsideAndAskForAPerson(t *testing.T) {
	t.Parallel()
	beside := BranchMoved{Commit: "amended", Commits: 1, By: []string{"Ada"}, KeptRef: "refs/signalbox/kept/42/amended"}
	for name, kind := range map[string]ActionKind{"while steps are carried out": RunTests, "after the approval": WatchChecks} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := at(t, settings(WorkflowFull, true), kind, "")
			head := run.Journey.Head
			run, _ = Decide(run, beside, epoch)
			if run.Journey.BranchAt != "amended" || run.Journey.Head != head {
				t.Errorf("branch at %s, head %s", run.Journey.BranchAt, run.Journey.Head)
			}
			for run.State == Running {
				run, _ = Decide(run, goesWell(run), epoch)
			}
			if run.State != NeedsInput || !strings.Contains(run.Error.Message, "1 commit by Ada on the branch was set aside (git log refs/signalbox/kept/42/amended)") {
				t.Errorf("%s: %v", run.State, run.Error)
			}
		})
	}
}

func TestAPersonsCommitsAreHeldToTheRulesOfEveryChange(t *testing.T) {
	t.Parallel()
	run := at(t, settings(WorkflowFull, true), OpenPullRequest, "")
	bad, flagged := byAda, byAda
	bad.Whole = []FileChange{{Path: ".signalbox/config.yaml", NewMode: "100644"}}
	flagged.Whole = []FileChange{{Path: ".github/workflows/x.yml", NewMode: "100644"}}
	if after, _ := Decide(run, bad, epoch); after.State != NeedsInput || after.Error.ReasonCode != BranchRefused || after.Journey.Head == "ada" {
		t.Errorf("%s: %v", after.State, after.Error)
	}
	after, _ := Decide(run, flagged, epoch)
	for after.State == Running {
		after, _ = Decide(after, goesWell(after), epoch)
	}
	if after.State != NeedsInput || !strings.Contains(after.Error.Message, "x.yml") {
		t.Errorf("%s: %v", after.State, after.Error)
	}
}

func TestTheStepsAreNotCarriedOutAgainWithoutAPersonsCommits(t *testing.T) {
	t.Parallel()
	run := at(t, settings(WorkflowFull, true), OpenPullRequest, "")
	run, _ = Decide(run, byAda, epoch)
	for run.Journey.Pending[0].Kind != WatchChecks {
		run, _ = Decide(run, goesWell(run), epoch)
	}
	run, _ = Decide(run, ChecksEnded{Outcome: Outcome{Key: run.Journey.Pending[0].Key}, State: ChecksConflict}, epoch)
	if run.State != NeedsInput || !strings.Contains(allSaid(run.Error), "git merge main") {
		t.Errorf("%s: %v", run.State, run.Error)
	}
}

func (j *Journey) settledAt(p Phase) bool { return j.Phase == p && len(j.Pending) == 0 }
