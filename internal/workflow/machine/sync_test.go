package machine

import (
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

// merging is a run that was ordered, at its approval, to merge the base branch of now.
func merging(t *testing.T) workflow.Run {
	t.Helper()
	run := at(t, settings(workflow.WorkflowSimple, false), workflow.RunTests, "")
	for run.State == workflow.Running {
		run, _ = Decide(run, goesWell(run), epoch)
	}
	run.Signals.Commands = []workflow.Command{{Kind: workflow.CommandSync}}
	run, _ = Decide(run, workflow.SyncOrdered{}, epoch)
	run, _ = Decide(run, workflow.Admitted{Epoch: 2}, epoch)
	if run.State != workflow.Running || run.Details.Pending[0].Kind != workflow.MergeBase || len(run.Signals.Commands) != 0 {
		t.Fatalf("%s, pending %v, commands %v", run.State, run.Details.Pending, run.Signals.Commands)
	}
	return run
}

func TestACleanMergeOfTheBaseIsTestedAndAskedAboutAgain(t *testing.T) {
	t.Parallel()
	run := merging(t)
	run, _ = Decide(run, workflow.BaseMerged{Outcome: workflow.Outcome{Key: run.Details.Pending[0].Key}, Base: "base2", Commit: "merged"}, epoch)
	if j := run.Details; j.Head != "merged" || j.Approval != nil || j.Pending[0].Kind != workflow.RunTests {
		t.Fatalf("head %s, pending %v", j.Head, j.Pending)
	}
	for run.State == workflow.Running {
		run, _ = Decide(run, goesWell(run), epoch)
	}
	if run.Error.ReasonCode != workflow.ApprovalRequired || !strings.Contains(run.Error.Message, "the base branch at base2 was merged into the change") {
		t.Errorf("%s: %s", run.Error.ReasonCode, run.Error.Message)
	}
}

func TestTheAgentResolvesConflictsUntilNoMarkerIsLeft(t *testing.T) {
	t.Parallel()
	run := merging(t)
	run, _ = Decide(run, workflow.BaseMerged{Outcome: workflow.Outcome{Key: run.Details.Pending[0].Key}, Base: "base2", Commit: "merged", Conflicts: []string{"a.go"}}, epoch)
	j := run.Details
	if a := j.Pending[0]; a.Kind != workflow.CallAgent || a.Role != workflow.Implementer || !strings.Contains(j.Findings[0].Text, "these files conflict: a.go") {
		t.Fatalf("pending %v, findings %v", j.Pending, j.Findings)
	}
	run, _ = Decide(run, workflow.Implemented{Outcome: workflow.Outcome{Key: j.Pending[0].Key}}, epoch)
	record := workflow.Outcome{Key: run.Details.Pending[0].Key}
	left, _ := Decide(run, workflow.ChangeRecorded{Outcome: record, Commit: "half", Unresolved: []string{"a.go"}}, epoch)
	if a := left.Details.Pending[0]; a.Kind != workflow.CallAgent || !strings.Contains(a.Reason, "conflict markers are left in a.go") || left.Details.Head == "half" {
		t.Errorf("with markers left: %v at %s", a, left.Details.Head)
	}
	last := run
	last.Details.Used.Autofix = last.Details.Settings.Limits.Autofix
	if last, _ = Decide(last, workflow.ChangeRecorded{Outcome: record, Commit: "half", Unresolved: []string{"a.go"}}, epoch); !strings.Contains(allSaid(last.Error), "git -C .worktrees/merge-") ||
		!strings.Contains(allSaid(last.Error), "then: retry") {
		t.Errorf("after the last attempt it says %q", allSaid(last.Error))
	}
	untouched, _ := Decide(run, workflow.ChangeRecorded{Outcome: record, Commit: "merged", Unresolved: []string{"a.go"}}, epoch)
	if a := untouched.Details.Pending[0]; a.Kind != workflow.CallAgent {
		t.Errorf("an agent that touched nothing is called again, not %v", a)
	}
	resolved, _ := Decide(run, workflow.ChangeRecorded{Outcome: record, Commit: "resolved"}, epoch)
	if j := resolved.Details; j.Pending[0].Kind != workflow.RunTests || j.Conflicts != nil || j.Head != "resolved" {
		t.Errorf("resolved: %v, conflicts %v", j.Pending, j.Conflicts)
	}
}

func TestOnlyAFinishedChangeThatStandsStillIsMergedWithItsBase(t *testing.T) {
	t.Parallel()
	full := settings(workflow.WorkflowFull, true)
	midway, _ := Decide(at(t, full, workflow.CallAgent, workflow.Implementer), workflow.StopRequested{}, epoch)
	reviewed, _ := Decide(at(t, full, workflow.CallAgent, workflow.Reviewer), workflow.StopRequested{}, epoch)
	for name, c := range map[string]struct {
		run  workflow.Run
		want bool
	}{
		"a running one":                 {at(t, full, workflow.CallAgent, workflow.Reviewer), false},
		"one stopped within a step":     {midway, false},
		"one stopped before its review": {reviewed, true},
		"one that waits for its merge":  {at(t, full, workflow.MergePullRequest, ""), false},
	} {
		after, _ := Decide(c.run, workflow.SyncOrdered{}, epoch)
		merges := slices.ContainsFunc(after.Details.Pending, func(a workflow.Action) bool { return a.Kind == workflow.MergeBase })
		if c.run.MaySync() != c.want || merges != c.want {
			t.Errorf("%s: may %v, merges %v, want %v", name, c.run.MaySync(), merges, c.want)
		}
	}
}

func TestARunSaysWhichSettingsOfItsTestsAreNew(t *testing.T) {
	t.Parallel()
	slower, others := settings(workflow.WorkflowSimple, false), settings(workflow.WorkflowSimple, false)
	slower.Limits.TestTotalSec += 60
	others.Tests = []string{"make other"}
	for want, now := range map[string]workflow.Settings{
		"":                              settings(workflow.WorkflowSimple, false),
		"limits.test_total":             slower,
		"those that are configured now": others,
	} {
		m := machine{run: workflow.Run{Details: workflow.Details{Settings: settings(workflow.WorkflowSimple, false)}}}
		changed := m.takeTests(&now)
		if said := m.run.Progress.Message; changed != (want != "") || !strings.Contains(said, want) || changed == (said == "") {
			t.Errorf("changed %t, said %q; want %q", changed, said, want)
		}
	}
}
