package machine

import (
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

func TestWorkflowPhases(t *testing.T) {
	t.Parallel()
	every := []workflow.StepName{"design-read", "design-check", "tdd-red", "tdd-refactor", "review-request", "review-fix", "stress-test"}
	for _, test := range []struct {
		name    string
		in      []string
		flow    string
		phases  []workflow.StepName
		problem string
	}{
		{"full has every optional phase", []string{"full"}, "full", every, ""},
		{"simple has none", []string{"simple"}, "simple", nil, ""},
		{"a list is a workflow of its own", []string{"tdd-red", "review-request"}, "custom", []workflow.StepName{"tdd-red", "review-request"}, ""},
		{"a phase that always runs may be named", []string{"ci-watch"}, "custom", []workflow.StepName{"ci-watch"}, ""},
		{"a built-in name is no phase", []string{"full", "tdd-red"}, "", nil, `"full"`},
		{"an unknown name is told with the known ones", []string{"tdd-blue"}, "", nil, "tdd-red"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			flow, phases, err := workflow.WorkflowPhases(test.in...)
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("%v does not speak of %s", err, test.problem)
				}
				return
			}
			if err != nil || flow != test.flow || !slices.Equal(phases, test.phases) {
				t.Errorf("%q is %q with %q, %v", test.in, flow, phases, err)
			}
		})
	}
}

func TestASimpleWorkflowShowsSkippedPhasesAndWhy(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowSimple, true), toTheEnd)
	want := []workflow.StepStatus{workflow.StepDone, workflow.StepDone, workflow.StepSkipped, workflow.StepSkipped, workflow.StepSkipped, workflow.StepDone, workflow.StepSkipped, workflow.StepSkipped,
		workflow.StepSkipped, workflow.StepSkipped, workflow.StepDone, workflow.StepDone, workflow.StepDone, workflow.StepDone, workflow.StepDone}
	for i, record := range run.Details.Phases {
		if record.Status != want[i] {
			t.Errorf("%s is %s, want %s", record.Step, record.Status, want[i])
		}
		if record.Status == workflow.StepSkipped && record.Note == "" {
			t.Errorf("%s is skipped without a word", record.Step)
		}
	}
	if note := run.Details.Phases[workflow.TDDRed].Note; note != `not in the workflow "simple"` {
		t.Errorf("tdd-red was skipped because %q", note)
	}
}

func TestAPhaseIsLeftOutForWantOfItsMeans(t *testing.T) {
	t.Parallel()
	bare := ordinary(workflow.WorkflowFull, true)
	bare.HasPlanner, bare.HasReviewer, bare.Stress = false, false, ""
	run := newRun(bare)
	for phase, part := range map[workflow.Phase]string{workflow.DesignRead: "planner", workflow.DesignCheck: "planner", workflow.ReviewRequest: "reviewer", workflow.StressTest: "stress test"} {
		if record := run.Details.Phases[phase]; record.Status != workflow.StepSkipped || !strings.Contains(record.Note, part) {
			t.Errorf("%s is %s, %q", phase, record.Status, record.Note)
		}
	}
}

func TestNoWorkflowLeavesOutTheInterlock(t *testing.T) {
	t.Parallel()
	var kept []string
	for _, record := range newRun(ordinary(workflow.WorkflowSimple, true)).Details.Phases {
		if record.Status != workflow.StepSkipped {
			kept = append(kept, string(record.Step))
		}
	}
	want := "branch-create env-create tdd-green review-fix approval-wait pr-create ci-watch merge-cleanup parent-close"
	if got := strings.Join(kept, " "); got != want {
		t.Errorf("a simple workflow keeps\n%s, want\n%s", got, want)
	}
}

func TestDefaultLimitsAreThePublishedOnes(t *testing.T) {
	t.Parallel()
	l := workflow.DefaultLimits()
	if l.ReviewRounds != 3 || l.CIFailures != 3 || l.SetUpRepairs != 3 {
		t.Errorf("E5 and P6 say three: %+v", l)
	}
}
