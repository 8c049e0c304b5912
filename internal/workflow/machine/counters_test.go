package machine

import (
	"testing"

	"signalbox/internal/workflow"
)

func TestACallThatWasStoppedAndIsMadeAgainCountsTwice(t *testing.T) {
	t.Parallel()
	begun := func(t *testing.T, run workflow.Run) workflow.Run {
		t.Helper()
		return does(workflow.AgentReported{Key: run.Details.Pending[0].Key, Call: workflow.Call{Agent: "it"}})(t, run)
	}
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilAction(workflow.CallAgent), begun, does(workflow.StopRequested{}), resumed)
	if got := run.Counters.PlannerCalls; got != 2 {
		t.Errorf("%d planner calls, want 2", got)
	}
	if run = crash(t, run); run.Counters.PlannerCalls != 2 {
		t.Errorf("%d planner calls after a crash before the second began, want 2", run.Counters.PlannerCalls)
	}
}

func TestACorrectionOfTheSetUpIsNoCallOfThePlanner(t *testing.T) {
	t.Parallel()
	withSetUp := plan
	withSetUp.Environment = setUp
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilAction(workflow.CallAgent), plans(withSetUp), untilAction(workflow.RunSetUp), setUpFails(workflow.FailureFixable))
	if run.Counters.PlannerCalls != 1 || run.Details.RepairCalls != 1 {
		t.Errorf("%d planner calls and %d corrections, want one each", run.Counters.PlannerCalls, run.Details.RepairCalls)
	}
}

func TestTheRoleOfAPlannedStepIsKept(t *testing.T) {
	t.Parallel()
	p := plan
	p.Actions.Steps = []workflow.PlannedStep{{StepID: "S01", Title: "Test", Role: "tester"}, {StepID: "S02", Title: "Fix"}}
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilAction(workflow.CallAgent), plans(p), untilAction(workflow.RecordChange))
	if run.Steps[0].Role != "tester" || run.Steps[1].Role != workflow.Implementer {
		t.Errorf("roles %q and %q", run.Steps[0].Role, run.Steps[1].Role)
	}
}
