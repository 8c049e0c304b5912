package machine_test

import (
	"slices"
	"testing"
	"time"

	"signalbox/internal/registry"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/machine"
	"signalbox/internal/workflow/policy"
)

// The registry's projections of runs that Decide brought where they are.

func TestEntryOf(t *testing.T) {
	t.Parallel()
	full := machine.Ordinary(workflow.WorkflowFull, true)
	failing := machine.Times(1, machine.UntilPhase(workflow.CIWatch), machine.Checks(workflow.ChecksFailed))
	for _, test := range []struct {
		name   string
		acts   []machine.Act
		status registry.EnvironmentStatus // empty when there is no entry
		phase  workflow.Phase
	}{
		{"before there is an environment there is no entry", []machine.Act{machine.UntilPhase(workflow.EnvCreate)}, "", 0},
		{"work in progress is active", []machine.Act{machine.UntilPhase(workflow.TDDGreen)}, registry.EnvironmentActive, workflow.TDDGreen},
		{"a stop by a person leaves it active", []machine.Act{machine.UntilPhase(workflow.TDDGreen), machine.Does(workflow.StopRequested{})}, registry.EnvironmentActive, workflow.TDDGreen},
		{"an open pull request", []machine.Act{machine.UntilPhase(workflow.CIWatch)}, registry.EnvironmentPRCreated, workflow.CIWatch},
		{"a blocked one", []machine.Act{machine.Times(3, failing)}, registry.EnvironmentBlocked, workflow.ReviewFix},
		{"blocked goes back to pr_created after unblocking", []machine.Act{machine.Times(3, failing), machine.Does(workflow.Resumed{})}, registry.EnvironmentPRCreated, workflow.ReviewFix},
		{"blocked without a pull request goes back to active",
			[]machine.Act{machine.UntilPhase(workflow.DesignCheck), machine.Plans(workflow.Plan{Design: &workflow.Feasibility{}}), machine.Does(workflow.Resumed{})}, registry.EnvironmentActive, workflow.DesignCheck},
		{"a merged one", []machine.Act{machine.UntilPhase(workflow.MergeCleanup), machine.Well}, registry.EnvironmentMerged, workflow.MergeCleanup},
		{"a merged one of which the rest is done", []machine.Act{machine.ToTheEnd}, registry.EnvironmentMerged, workflow.ParentClose},
		{"one that is being given up", []machine.Act{machine.UntilPhase(workflow.CIWatch), machine.Does(workflow.StopRequested{Cancel: true})}, registry.EnvironmentAbandoned, workflow.CIWatch},
		{"one that was put away has no entry", []machine.Act{machine.UntilPhase(workflow.TDDGreen), machine.Does(workflow.StopRequested{Cancel: true}), machine.Well}, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			run := machine.Lived(t, full, test.acts...)
			entry, ok := registry.EntryOf(&run)
			if ok != (test.status != "") || ok && (entry.Status != test.status || entry.Phase != test.phase || entry.Step != test.phase.Step()) {
				t.Errorf("%t: %s at %d %s, want %s at %d", ok, entry.Status, entry.Phase, entry.Step, test.status, test.phase)
			}
			if ok && (entry.Blocked != nil) != (test.status == registry.EnvironmentBlocked) {
				t.Errorf("blocked is %+v", entry.Blocked)
			}
		})
	}
}

func TestAnEntryHasTheAreaThatItsRequestNames(t *testing.T) {
	t.Parallel()
	changed := machine.Times(1, machine.UntilPhase(workflow.TDDGreen), machine.Well, machine.Changes(policy.FileChange{Path: "web/a.ts", NewMode: "100644"}))
	s := machine.Ordinary(workflow.WorkflowFull, true)
	for _, c := range []struct {
		named, want string
		until       machine.Act
	}{{"", "", machine.UntilPhase(workflow.DesignCheck)}, {"", "web", changed}, {"backend", "backend", machine.UntilPhase(workflow.DesignCheck)}, {"backend", "backend", changed}} {
		s.Area = c.named
		run := machine.Lived(t, s, c.until)
		if entry, _ := registry.EntryOf(&run); entry.Area != c.want {
			t.Errorf("a request that names %q has the area %q in %s, want %q", c.named, entry.Area, machine.Where(run), c.want)
		}
	}
}

func TestAnEntrySaysWhatIsPending(t *testing.T) {
	t.Parallel()
	run := machine.Lived(t, machine.Ordinary(workflow.WorkflowFull, true), machine.UntilPhase(workflow.ReviewRequest), machine.ReviewFinds)
	entry, _ := registry.EntryOf(&run)
	if !slices.Equal(entry.PendingIssues, []string{"parse.go: reads past the end"}) {
		t.Errorf("pending_issues are %q", entry.PendingIssues)
	}
	if entry.PRNumber != nil || entry.IssueNumber != 42 || entry.Branch != "signalbox/42-fix-the-parser" || !entry.CreatedAt.Equal(machine.Epoch) {
		t.Errorf("the entry is %+v", entry)
	}
	run = machine.UntilPhase(workflow.CIWatch)(t, run)
	entry, _ = registry.EntryOf(&run)
	if len(entry.PendingIssues) != 0 || entry.PRNumber == nil || *entry.PRNumber != 7 {
		t.Errorf("after the fix: %q, pull request %v", entry.PendingIssues, entry.PRNumber)
	}
}

func TestIssueStatusOf(t *testing.T) {
	t.Parallel()
	full := machine.Ordinary(workflow.WorkflowFull, true)
	for _, test := range []struct {
		name    string
		acts    []machine.Act
		want    registry.IssueStatusWord
		message string
	}{
		{"a queued run is running to a program that waits", nil, registry.IssueRunning, ""},
		{"a running run", []machine.Act{machine.UntilPhase(workflow.TDDGreen)}, registry.IssueRunning, ""},
		{"a merged run is complete", []machine.Act{machine.ToTheEnd}, registry.IssueComplete, ""},
		{"a canceled run is an error", []machine.Act{machine.Does(workflow.StopRequested{Cancel: true})}, registry.IssueError, "canceled"},
		{"a stopped run is an error that says why", []machine.Act{machine.UntilPhase(workflow.TDDGreen), machine.Does(workflow.StopRequested{})}, registry.IssueError,
			"stopped by a person: stopped while implementing"},
		{"a failed run is an error that says why", []machine.Act{machine.UntilPhase(workflow.TDDGreen), machine.Times(3, machine.AgentFails("AGENT_HUNG"))}, registry.IssueError,
			"the implementer printed nothing for too long: it ended"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			run := machine.Lived(t, full, test.acts...)
			run.UpdatedAt = machine.Epoch.In(time.FixedZone("JST", 9*3600))
			s := registry.IssueStatusOf(&run)
			if s.Status != test.want || s.ErrorMessage != test.message || s.Issue != 42 || s.Session != "signalbox-issue-42" {
				t.Errorf("%+v", s)
			}
			if s.Timestamp.Location() != time.UTC {
				t.Errorf("the time is %s", s.Timestamp)
			}
		})
	}
}
