package machine

import (
	"testing"

	"signalbox/internal/workflow"
)

func TestPlanning(t *testing.T) {
	t.Parallel()
	full, unplanned := ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowFull, true)
	unplanned.HasPlanner = false
	unclear := plans(workflow.Plan{Design: &workflow.Feasibility{AmbiguousPoints: []string{"int or UUID"}}})
	tell(t, []story{
		{"an ambiguous design asks a person", full, []act{untilPhase(workflow.DesignCheck), unclear}, "NEEDS_INPUT design-check DESIGN_AMBIGUITY"},
		{"after the ambiguity is settled the planner is asked anew", full, []act{untilPhase(workflow.DesignCheck), unclear, resumed},
			"RUNNING design-check call_agent planner"},
		{"a refused plan is asked for again", full, []act{untilPhase(workflow.DesignCheck), times(2, answerIsRefused)},
			"RUNNING design-check call_agent planner"},
		{"a third refused plan stops for a person", full, []act{untilPhase(workflow.DesignCheck), times(3, answerIsRefused)},
			"NEEDS_INPUT design-check CONTRACT_BROKEN"},
		{"after that a resumed run grants the answers anew", full, []act{untilPhase(workflow.DesignCheck), times(3, answerIsRefused), resumed,
			times(2, answerIsRefused)}, "RUNNING design-check call_agent planner"},
		{"without a planner the request is one step", unplanned, []act{untilAction(workflow.WritePlan), untilAction(workflow.CallAgent)}, "RUNNING tdd-green call_agent S01/1"},
		{"a plan is written down before its first step", full, []act{untilPhase(workflow.DesignCheck), well}, "RUNNING design-check write_plan"},
	})
}

func TestAPlanIsCarriedOutInTheOrderOfItsPhases(t *testing.T) {
	t.Parallel()
	step := func(id string, phase workflow.StepName) workflow.PlannedStep {
		return workflow.PlannedStep{StepID: id, Title: id, Phase: phase, Role: workflow.Reviewer}
	}
	for _, test := range []struct {
		name string
		with workflow.Settings
		plan []workflow.PlannedStep
		want []workflow.StepName
	}{
		{"phases in order stay", ordinary(workflow.WorkflowFull, true),
			[]workflow.PlannedStep{step("S01", "tdd-red"), step("S02", "tdd-green"), step("S03", "tdd-refactor")},
			[]workflow.StepName{"tdd-red", "tdd-green", "tdd-refactor"}},
		{"a step never goes back behind an earlier one's phase", ordinary(workflow.WorkflowFull, true),
			[]workflow.PlannedStep{step("S01", "tdd-refactor"), step("S02", "tdd-red")}, []workflow.StepName{"tdd-refactor", "tdd-refactor"}},
		{"a step without a phase, or of one that is no phase of work, is implemented", ordinary(workflow.WorkflowFull, true),
			[]workflow.PlannedStep{step("S01", ""), step("S02", "dance"), step("S03", "ci-watch")},
			[]workflow.StepName{"tdd-green", "tdd-green", "tdd-green"}},
		{"a phase that the workflow leaves out is carried out with the implementation", custom("design-check"),
			[]workflow.PlannedStep{step("S01", "tdd-red"), step("S02", "tdd-refactor")}, []workflow.StepName{"tdd-green", "tdd-green"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := workflow.Plan{Goal: "g", Actions: workflow.ActionPlan{Steps: test.plan}}
			run := lived(t, test.with, untilPhase(workflow.DesignCheck), plans(p), well)
			for i, s := range run.Steps {
				if s.Phase != test.want[i] || s.Role != "reviewer" {
					t.Errorf("%s is %s by the %s, want %s by the reviewer", s.StepID, s.Phase, s.Role, test.want[i])
				}
			}
			if err := run.FollowsPlan(p); err != nil {
				t.Error(err)
			}
			if end := toTheEnd(t, run); end.State != workflow.Done {
				t.Errorf("the plan was not carried out: %s", where(end))
			}
		})
	}
}

// custom is a workflow of the phases named.
func custom(phases ...string) workflow.Settings {
	s := ordinary(workflow.WorkflowFull, true)
	var err error
	if s.Workflow, s.Phases, err = workflow.WorkflowPhases(phases...); err != nil {
		panic(err)
	}
	return s
}
