package machine

import (
	"strings"
	"testing"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

// Work that is too large to keep is lost only by an express word, and that word is carried out before
// anything runs in the environment again.
func TestWorkThatIsTooLargeToKeep(t *testing.T) {
	t.Parallel()
	full := ordinary(workflow.WorkflowFull, true)
	stands := actionFails(tooLarge, 0)
	dropped := answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event { return workflow.WorkDropped{Outcome: o} })
	force := times(1, does(workflow.Resumed{Force: true}), does(workflow.Admitted{}))
	refused := answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.ChangeRefused{Outcome: o, Problems: []string{"too large"}, TooLarge: true}
	})
	tell(t, []story{
		{"it asks a person", full, []act{untilPhase(workflow.TDDGreen), stands}, "NEEDS_INPUT tdd-green WORK_TOO_LARGE"},
		{"who may have cleared it away", full, []act{untilPhase(workflow.TDDGreen), stands, resumed}, "RUNNING tdd-green call_agent S02/1"},
		{"or let it be lost, first of all", full, []act{untilPhase(workflow.TDDGreen), stands, force}, "RUNNING tdd-green drop_work call_agent S02/1"},
		{"and then as before", full, []act{untilPhase(workflow.TDDGreen), stands, force, dropped}, "RUNNING tdd-green call_agent S02/1"},
		{"one word is for one time", full, []act{untilPhase(workflow.TDDGreen), stands, force, dropped, stands}, "NEEDS_INPUT tdd-green WORK_TOO_LARGE"},
		{"it is no word on anything else", full, []act{untilPhase(workflow.TDDGreen), does(workflow.StopRequested{}), force}, "RUNNING tdd-green call_agent S02/1"},
		{"nor is the work of a run that is given up lost without", full, []act{untilPhase(workflow.TDDGreen), does(workflow.StopRequested{Cancel: true}), stands},
			"NEEDS_INPUT tdd-green WORK_TOO_LARGE"},
		{"but with it", full, []act{untilPhase(workflow.TDDGreen), does(workflow.StopRequested{Cancel: true}), stands, force, dropped}, "RUNNING tdd-green remove_environment"},
		{"the second time ends the run", full, []act{untilPhase(workflow.TDDGreen), well, refused, well, refused}, "FAILED tdd-green CHANGE_REFUSED"},
		{"and so does a file over the limit", full, []act{untilPhase(workflow.TDDGreen), times(2, well, changes(policy.FileChange{Path: "a.bin", Size: 60 << 20}))}, "FAILED tdd-green CHANGE_REFUSED"},
		{"which costs a call after tests that failed, too", full, []act{untilPhase(workflow.TDDGreen), well, well, testsFail, well, refused}, "RUNNING tdd-green call_agent S02/3"},
		{"a person who tries again pays for one call", full, []act{untilPhase(workflow.TDDGreen), times(2, well, refused), does(workflow.Retried{}), does(workflow.Admitted{}), well, refused}, "FAILED tdd-green CHANGE_REFUSED"},
		{"its maker goes on with it", full, []act{untilPhase(workflow.TDDGreen), well, refused}, "RUNNING tdd-green call_agent S02/2"},
	})
	run := lived(t, full, untilPhase(workflow.TDDGreen), well, refused)
	if a := run.Details.Pending[0]; !a.InPlace || !strings.Contains(a.Reason, "too large") {
		t.Errorf("who made what is too large is called with %+v", a)
	}
	run = lived(t, full, untilPhase(workflow.TDDGreen), well, answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event { return workflow.ChangeRefused{Outcome: o} }))
	if run.Details.Pending[0].InPlace {
		t.Error("what can be kept is not begun anew")
	}
}
