package machine

import (
	"strings"
	"testing"

	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// drawn is a run's seven phases, a letter each: p(ending), a(ctive), c(ompleted), s(kipped).
func drawn(r workflow.Run) string {
	var b strings.Builder
	for _, p := range registry.PhasesOf(&r) {
		b.WriteByte(p.Status[0])
	}
	return b.String()
}

func TestTheSevenPhasesAreDrawnOffTheRun(t *testing.T) {
	t.Parallel()
	withSetUp := plan
	withSetUp.Environment = setUp
	full := ordinary(workflow.WorkflowFull, true)
	begun := times(1, untilAction(workflow.CallAgent), plans(withSetUp), untilAction(workflow.RunSetUp))
	for _, c := range []struct {
		name     string
		settings workflow.Settings
		acts     []act
		want     string
	}{
		{"a new run", full, nil, "apppppp"},
		{"planning", full, []act{untilPhase(workflow.DesignCheck)}, "cappppp"},
		{"setting up", full, []act{begun}, "ccapppp"},
		{"implementing with a setup", full, []act{begun, well, well, well}, "cccappp"},
		{"implementing after a setup that failed", full, []act{begun, setUpFails(workflow.FailureFatal), untilPhase(workflow.TDDGreen)}, "ccfappp"},
		{"done after one that failed", full, []act{begun, setUpFails(workflow.FailureFatal), toTheEnd}, "ccfcccc"},
		{"implementing without", full, []act{untilPhase(workflow.TDDGreen)}, "ccsappp"},
		{"a simple run plans nothing", ordinary(workflow.WorkflowSimple, true), []act{untilPhase(workflow.TDDGreen)}, "cssappp"},
		{"reviewing", full, []act{untilPhase(workflow.ReviewRequest)}, "ccscapp"},
		{"done", full, []act{toTheEnd}, "ccscccc"},
	} {
		run := lived(t, c.settings, c.acts...)
		if got := drawn(run); got != c.want {
			t.Errorf("%s: %s, want %s (%s)", c.name, got, c.want, where(run))
		}
	}
}

func TestASetUpSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	withSetUp := plan
	withSetUp.Environment = setUp
	begun := times(1, untilAction(workflow.CallAgent), plans(withSetUp), untilAction(workflow.RunSetUp))
	of := func(acts ...act) registry.SetUpProgress {
		t.Helper()
		run := lived(t, ordinary(workflow.WorkflowFull, true), append([]act{begun}, acts...)...)
		if p := registry.SetUpOf(&run); p != nil {
			return *p
		}
		t.Fatalf("no setup in %s", where(run))
		return registry.SetUpProgress{}
	}
	if p := of(); p.Command != 1 || p.Commands != 1 || p.Verification != 0 || p.Running != "go mod download" || p.RetryAt != nil {
		t.Errorf("the first command: %+v", p)
	}
	if p := of(setUpFails(workflow.FailureNetwork)); p.RetryAt == nil || p.RetryAt.Sub(epoch) != networkWaits[0] {
		t.Errorf("a wait: %+v", p)
	}
	if p := of(setUpFails(workflow.FailureFixable)); p.Repair != 1 || p.Repairs != 3 {
		t.Errorf("a repair: %+v", p)
	}
	if p := of(well); p.Verification != 1 || p.Verifications != 1 || p.Running != "echo OK" {
		t.Errorf("the verification: %+v", p)
	}
	if run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen)); registry.SetUpOf(&run) != nil {
		t.Error("a run at another place has a setup's progress")
	}
}
