package heal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/workflow"
)

// A check that can't run is unknown and named with the reason, and the other checks still run.
func TestAnObstacleToOneCheckStopsNoOther(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken, verdict)
	s.says("failed")
	s.config.Place = func(context.Context) (heal.Place, error) { return nil, errors.New("set-up command 1 exited 7") }
	h := s.pass(t, health.PassRepaired).Health
	if len(h.Loop.Errors) != 1 || h.Loop.Errors[0].Check != "ci" || len(h.Loop.Unseen) != 1 || !strings.HasSuffix(h.Loop.Unseen[0].Why, "set-up command 1 exited 7") {
		t.Errorf("errors %+v, unseen %+v", h.Loop.Errors, h.Loop.Unseen)
	}
	s.config.Branch = func(context.Context) (forge.Check, error) {
		return forge.Check{}, errors.New("the forge does not answer")
	}
	h = s.pass(t, health.PassUnknown).Health
	if len(h.Loop.Unseen) != 2 || h.Loop.Unseen[1].Why != "the forge does not answer" {
		t.Errorf("unseen %+v", h.Loop.Unseen)
	}
}

// If a run merged without the check, the merge is verified once the check can run. Until then it is neither a failure nor a success.
func TestAMergeThatCannotBeHeldAgainstItsCheckWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken)
	s.config.Run = s.runWithoutCheck
	s.breakIt(t, "order 17 has no price")
	place := s.config.Place
	looks := 0
	s.config.Place = func(ctx context.Context) (heal.Place, error) {
		if looks++; looks == 2 {
			return nil, errors.New("no room on the disk")
		}
		return place(ctx)
	}
	r := s.pass(t, health.PassWaiting).Pass.Repairs[0]
	if r.Outcome != health.RepairWaiting || !strings.Contains(r.Why, "no room on the disk") {
		t.Errorf("the repair is %+v", r)
	}
	s.pass(t, health.PassFailed)
}

func TestAPassThatEndedWithAnErrorSaysWithWhichUntilOneDoesNot(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken)
	s.breakIt(t, "order 17 has no price")
	runRepair := s.config.Run
	s.config.Run = func(context.Context, heal.Repair) (workflow.Run, error) {
		return workflow.Run{}, errors.New("nobody plans for hunter2hunter2")
	}
	report, err := s.config.Pass(t.Context())
	if err == nil || !strings.HasSuffix(report.Health.Loop.Stopped, "nobody plans for [redacted]") {
		t.Errorf("%q after %v", report.Health.Loop.Stopped, err)
	}
	s.config.Run = runRepair
	if h := s.pass(t, health.PassRepaired).Health; h.Loop.Stopped != "" {
		t.Errorf("still %q", h.Loop.Stopped)
	}
}

// A repair that can't be run blocks neither the other checks nor the other repairs.
func TestARepairThatCannotBeCarriedHoldsNoOtherUp(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken, workflow.HealthCheck{ID: "late", Severity: workflow.Blocker, Kind: workflow.HealthCommand, Command: "test ! -e late", TimeLimitMS: 60_000, Looks: 1})
	s.breakIt(t, "order 17 has no price")
	runRepair := s.config.Run
	s.config.Run = func(ctx context.Context, r heal.Repair) (workflow.Run, error) {
		if r.Check.ID == unbroken.ID {
			return workflow.Run{}, errors.New("stage.json is broken")
		}
		run, err := runRepair(ctx, r)
		return run, errors.Join(err, os.RemoveAll(filepath.Join(s.dir, "late")))
	}
	for i, late := range []bool{false, true} {
		if late {
			if err := os.WriteFile(filepath.Join(s.dir, "late"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		report, err := s.config.Pass(t.Context())
		if err == nil || !strings.HasSuffix(report.Health.Loop.Stopped, "stage.json is broken") || report.Health.ContinuousFailureCount != 0 {
			t.Errorf("pass %d: %q after %v", i, report.Health.Loop.Stopped, err)
		}
		if e := report.Health.Loop.Errors[0]; !e.Attempting || e.Attempts != 1 {
			t.Errorf("pass %d leaves %+v", i, e)
		}
	}
	if exists(t, filepath.Join(s.dir, "late")) {
		t.Error("the other error was not repaired")
	}
}
