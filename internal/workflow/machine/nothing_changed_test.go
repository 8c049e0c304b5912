package machine

import (
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

// An agent does the next step's work with its own; the next one finds nothing to do.
func TestAStepWhoseWorkIsDoneAlready(t *testing.T) {
	t.Parallel()
	empty := times(1, well, nothingChanges)
	plan := plans(workflow.Plan{Actions: workflow.ActionPlan{Steps: []workflow.PlannedStep{{StepID: "S01", Phase: "tdd-red"}, {StepID: "S02"}, {StepID: "S03"}}}})
	second := []act{untilPhase(workflow.DesignCheck), plan, untilPhase(workflow.TDDGreen), well, well, well} // S01 changed something
	then := func(acts ...act) []act { return append(second[:len(second):len(second)], acts...) }
	redLeftOut, untested, heard, looked := custom("design-check"), custom("design-check"), custom("design-check"), custom("design-check")
	untested.Tests = nil
	heard.Tests, heard.Check = nil, &workflow.HealthCheck{ID: "log", Kind: workflow.HealthLog}
	looked.Tests, looked.Check = nil, &workflow.HealthCheck{ID: "greeting", Kind: workflow.HealthCommand, Command: "./check.sh"}
	denied := answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		o.Call = &workflow.Call{Denied: []string{"Write"}}
		return workflow.Implemented{Outcome: o}
	})
	tell(t, []story{
		{"is judged by the tests", redLeftOut, then(empty), "RUNNING tdd-green run_tests S02/1"},
		{"also after a crash", redLeftOut, then(empty, crash), "RUNNING tdd-green run_tests S02/1"},
		{"is done when they pass", redLeftOut, then(empty, well), "RUNNING tdd-green call_agent S03/1"},
		{"and so is the next", redLeftOut, then(empty, well, empty, well), "RUNNING pr-create open_pull_request"},
		{"is asked for again when they fail, though it is not the last", redLeftOut, then(empty, testsFail), "RUNNING tdd-green call_agent S02/2"},
		{"and then fails", redLeftOut, then(times(3, empty, testsFail)), "FAILED tdd-green NO_CHANGE"},
		{"may be done by an attempt that was asked for again", redLeftOut, then(empty, testsFail, empty, well), "RUNNING tdd-green call_agent S03/1"},
		{"or changed by it", redLeftOut, then(empty, testsFail, well, well, testsFail), "RUNNING tdd-green call_agent S03/1"},
		{"is judged by the check that failed", looked, then(empty), "RUNNING tdd-green run_tests S02/1"},
		{"has no judge without tests", untested, []act{untilPhase(workflow.DesignCheck), plan, untilPhase(workflow.TDDGreen), well, well, empty}, "RUNNING tdd-green call_agent S02/2"},
		{"nor where only a log tells", heard, then(empty), "RUNNING tdd-green call_agent S02/2"},
		{"nor where the agent was not let do it", redLeftOut, then(denied, nothingChanges), "RUNNING tdd-green call_agent S02/2"},
		{"is done too where new tests pass already", ordinary(workflow.WorkflowFull, true), []act{untilPhase(workflow.TDDGreen), empty, well}, "RUNNING tdd-refactor call_agent S03/1"},
		{"is not a new test that was not written", ordinary(workflow.WorkflowFull, true), []act{untilPhase(workflow.DesignCheck), plans(workflow.Plan{Actions: workflow.ActionPlan{Steps: []workflow.PlannedStep{
			{StepID: "S01", Phase: "tdd-red"}, {StepID: "S02", Phase: "tdd-red"}}}}), untilPhase(workflow.TDDRed), well, well, well, empty}, "RUNNING tdd-red call_agent S02/2"},
		{"is not a mend of what was found", redLeftOut, then(toTheMend, empty), "RUNNING review-fix call_agent R01/2"},
	})
	run := lived(t, redLeftOut, then(empty)...)
	if want := "S02: no file changed; the tests say whether anything was left to do"; run.Progress.Message != want {
		t.Errorf("while they run it says %q, want %q", run.Progress.Message, want)
	}
	run = well(t, run)
	if step := run.Steps[1]; step.Status != workflow.StepDone || step.Summary != "nothing was left to do" || step.PatchPath != nil || step.Test.Unit.Status != workflow.TestPass {
		t.Errorf("it is kept as %+v", step)
	}
	run = lived(t, redLeftOut, then(times(2, empty, testsFail))...)
	if reason := run.Details.Pending[0].Reason; !strings.Contains(reason, "without changing any file") || !strings.Contains(reason, "1 failed") {
		t.Errorf("the implementer is told %q", reason)
	}
	run = lived(t, redLeftOut, then(times(3, empty, testsFail))...)
	if m := run.Error.Message; !strings.Contains(m, "S02 called 3 times and no file differs; the tests fail") || !strings.Contains(m, "1 failed") {
		t.Errorf("the person is told %q", m)
	}
}

// An attempt that takes back what the one before it did leaves what earlier steps recorded.
func TestAnAttemptThatTakesItsStepBack(t *testing.T) {
	t.Parallel()
	plan := plans(workflow.Plan{Actions: workflow.ActionPlan{Steps: []workflow.PlannedStep{{StepID: "S01"}, {StepID: "S02"}}}})
	run := lived(t, custom("design-check"), untilPhase(workflow.DesignCheck), plan, untilPhase(workflow.TDDGreen), well, well, well, well,
		answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
			return workflow.ChangeRecorded{Outcome: o, Commit: "in vain", PatchPath: "S02.patch"}
		}), testsFail, well, nothingChanges)
	if run.Details.Head != run.Details.StepBase || run.Steps[1].PatchPath != nil {
		t.Errorf("the tests run on %s with the patch %v, want %s", run.Details.Head, run.Steps[1].PatchPath, run.Details.StepBase)
	}
	if run = well(t, run); run.Steps[1].Status != workflow.StepDone {
		t.Errorf("%+v", run.Steps[1])
	}
}

// toTheMend lets all go well until a check on the forge fails.
var toTheMend = times(1, untilAction(workflow.WatchChecks), checks(workflow.ChecksFailed))
