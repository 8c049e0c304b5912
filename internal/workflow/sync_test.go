package workflow

import (
	"slices"
	"strings"
	"testing"
)

// merging is a run that was ordered, at its approval, to merge the base branch of now.
func merging(t *testing.T) Run {
	t.Helper()
	run := at(t, settings(WorkflowSimple, false), RunTests, "")
	for run.State == Running {
		run, _ = Decide(run, goesWell(run), epoch)
	}
	run.Signals.Commands = []Command{{Kind: CommandSync}}
	run, _ = Decide(run, SyncOrdered{}, epoch)
	run, _ = Decide(run, Admitted{Epoch: 2}, epoch)
	if run.State != Running || run.Journey.Pending[0].Kind != MergeBase || len(run.Signals.Commands) != 0 {
		t.Fatalf("%s, pending %v, commands %v", run.State, run.Journey.Pending, run.Signals.Commands)
	}
	return run
}

func TestACleanMergeOfTheBaseIsTestedAndAskedAboutAgain(t *testing.T) {
	t.Parallel()
	run := merging(t)
	run, _ = Decide(run, BaseMerged{Outcome: Outcome{Key: run.Journey.Pending[0].Key}, Base: "base2", Commit: "merged"}, epoch)
	if j := run.Journey; j.Head != "merged" || j.Approval != nil || j.Pending[0].Kind != RunTests {
		t.Fatalf("head %s, pending %v", j.Head, j.Pending)
	}
	for run.State == Running {
		run, _ = Decide(run, goesWell(run), epoch)
	}
	if run.Error.ReasonCode != ApprovalRequired || !strings.Contains(run.Error.Message, "the base branch at base2 was merged into the change") {
		t.Errorf("%s: %s", run.Error.ReasonCode, run.Error.Message)
	}
}

func TestTheAgentResolvesConflictsUntilNoMarkerIsLeft(t *testing.T) {
	t.Parallel()
	run := merging(t)
	run, _ = Decide(run, BaseMerged{Outcome: Outcome{Key: run.Journey.Pending[0].Key}, Base: "base2", Commit: "merged", Conflicts: []string{"a.go"}}, epoch)
	j := run.Journey
	if a := j.Pending[0]; a.Kind != CallAgent || a.Role != Implementer || !strings.Contains(j.Findings[0].Text, "these files conflict: a.go") {
		t.Fatalf("pending %v, findings %v", j.Pending, j.Findings)
	}
	run, _ = Decide(run, Implemented{Outcome: Outcome{Key: j.Pending[0].Key}}, epoch)
	record := Outcome{Key: run.Journey.Pending[0].Key}
	left, _ := Decide(run, ChangeRecorded{Outcome: record, Commit: "half", Unresolved: []string{"a.go"}}, epoch)
	if a := left.Journey.Pending[0]; a.Kind != CallAgent || !strings.Contains(a.Reason, "conflict markers are left in a.go") || left.Journey.Head == "half" {
		t.Errorf("with markers left: %v at %s", a, left.Journey.Head)
	}
	untouched, _ := Decide(run, ChangeRecorded{Outcome: record, Commit: "merged", Unresolved: []string{"a.go"}}, epoch)
	if a := untouched.Journey.Pending[0]; a.Kind != CallAgent {
		t.Errorf("an agent that touched nothing is called again, not %v", a)
	}
	resolved, _ := Decide(run, ChangeRecorded{Outcome: record, Commit: "resolved"}, epoch)
	if j := resolved.Journey; j.Pending[0].Kind != RunTests || j.Conflicts != nil || j.Head != "resolved" {
		t.Errorf("resolved: %v, conflicts %v", j.Pending, j.Conflicts)
	}
}

func TestOnlyAFinishedChangeThatStandsStillIsMergedWithItsBase(t *testing.T) {
	t.Parallel()
	full := settings(WorkflowFull, true)
	midway, _ := Decide(at(t, full, CallAgent, Implementer), StopRequested{}, epoch)
	reviewed, _ := Decide(at(t, full, CallAgent, Reviewer), StopRequested{}, epoch)
	for name, c := range map[string]struct {
		run  Run
		want bool
	}{
		"a running one":                 {at(t, full, CallAgent, Reviewer), false},
		"one stopped within a step":     {midway, false},
		"one stopped before its review": {reviewed, true},
		"one that waits for its merge":  {at(t, full, MergePullRequest, ""), false},
	} {
		after, _ := Decide(c.run, SyncOrdered{}, epoch)
		merges := slices.ContainsFunc(after.Journey.Pending, func(a Action) bool { return a.Kind == MergeBase })
		if c.run.MaySync() != c.want || merges != c.want {
			t.Errorf("%s: may %v, merges %v, want %v", name, c.run.MaySync(), merges, c.want)
		}
	}
}
