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

// away is a forge that does not answer what is asked of requests whose titles begin so.
type away struct {
	forge.Forge
	from string
}

var errAway = errors.New("the forge does not answer")

func (a *away) OpenRequest(ctx context.Context, key, title, body string) (forge.Request, error) {
	if a.from != "" && strings.HasPrefix(title, a.from) {
		return forge.Request{}, errAway
	}
	return a.Forge.OpenRequest(ctx, key, title, body)
}

func (a *away) CloseRequest(ctx context.Context, r forge.Request, commit string) error {
	if a.from != "" && strings.HasPrefix(r.Title, a.from) {
		return errAway
	}
	return a.Forge.CloseRequest(ctx, r, commit)
}

// goesAway lets the forge be away for some requests, or for none.
func (s *site) goesAway(from string) {
	s.config.Forge = &away{Forge: s.forge, from: from}
}

// held makes a pass that ends with a result and reports that the forge was unreachable.
func (s *site) held(t *testing.T, want health.Result) heal.Report {
	t.Helper()
	report, err := s.config.Pass(t.Context())
	if !errors.Is(err, errAway) || report.Result != want || !strings.HasSuffix(report.Health.Loop.Stopped, errAway.Error()) {
		t.Fatalf("the pass came to %q, %v and %q, want %q; said:\n%s", report.Result, err, report.Health.Loop.Stopped, want, strings.Join(s.said, "\n"))
	}
	return report
}

func TestAForgeThatIsAwayForOneErrorHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken, command("other", "! test -e other"))
	s.breakIt(t, "order 17 has no price")
	if err := os.WriteFile(filepath.Join(s.dir, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.config.Run = func(ctx context.Context, r heal.Repair) (workflow.Run, error) {
		if r.Check.ID == "other" {
			return workflow.Run{State: workflow.Done, Details: workflow.Details{Settings: workflow.Settings{Check: &r.Check}}}, os.Remove(filepath.Join(s.dir, "other"))
		}
		return s.runRepair(ctx, r)
	}
	s.goesAway("Health check whole")
	repairs := s.held(t, health.PassWaiting).Pass.Repairs
	if len(repairs) != 2 || repairs[0].Outcome != health.RepairWaiting || !strings.Contains(repairs[0].Why, errAway.Error()) || repairs[1].Outcome != health.RepairFixed {
		t.Errorf("repairs: %+v", repairs)
	}
	s.goesAway("")
	s.pass(t, health.PassRepaired)
	s.pass(t, health.PassHealthy)
	s.wantCounts(t, "healthy retry=false failures=0 detected=2 attempted=2 succeeded=2 runs=3")
}

func TestARepairThatWasBegunWaitsForAForgeThatIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken, verdict)
	s.says(forge.CheckPassed)
	s.comes = workflow.NeedsInput
	s.breakIt(t, "order 17 has no price")
	s.pass(t, health.PassWaiting)
	s.goesAway("Health check whole")
	if report := s.held(t, health.PassWaiting); len(report.Looks) != 2 || report.Health.ContinuousFailureCount != 0 {
		t.Errorf("looked at %+v, and then %+v", report.Looks, report.Health)
	}
	s.goesAway("")
	s.comes = workflow.Done
	s.pass(t, health.PassRepaired)
	s.wantCounts(t, "degraded retry=false failures=0 detected=1 attempted=1 succeeded=1 runs=3")
}

// The state is critical all the same, looks go on, and the person is called once the forge is back.
func TestACriticalStateIsReportedOnceTheForgeIsBack(t *testing.T) {
	t.Parallel()
	s := newBroken(t)
	s.goesAway("Self-healing gave up")
	for range 2 {
		s.pass(t, health.PassFailed)
		s.clock.move(health.RepairCooldown)
	}
	s.held(t, health.PassCritical)
	if report := s.held(t, health.PassCritical); len(report.Looks) != 1 || len(s.runs) != 3 {
		t.Errorf("looked at %+v, %d runs", report.Looks, len(s.runs))
	}
	s.goesAway("")
	s.pass(t, health.PassCritical)
	s.pass(t, health.PassCritical)
	if open, all := s.requests(t); all != 2 || !strings.HasPrefix(open[1], "Self-healing gave up") {
		t.Errorf("requests %q of %d", open, all)
	}
}

func TestARequestTheForgeFailedToCloseIsClosedLater(t *testing.T) {
	t.Parallel()
	s := newFixed(t)
	s.goesAway("Self-healing gave up")
	if h := s.held(t, health.PassHealthy).Health; h.LastHealthStatus != health.Healthy {
		t.Errorf("the state is %s", h.LastHealthStatus)
	}
	if open, _ := s.requests(t); len(open) != 1 {
		t.Errorf("open while the forge is away: %q", open)
	}
	s.goesAway("")
	s.pass(t, health.PassHealthy)
	if open, all := s.requests(t); len(open) != 0 || all != 2 {
		t.Errorf("open: %q of %d", open, all)
	}
	if h := s.pass(t, health.PassHealthy).Health; len(h.Loop.Unclosed) != 0 {
		t.Errorf("still to be closed: %q", h.Loop.Unclosed)
	}
}

// The request of an error that is there again is answered, whatever was left to be closed.
func TestARequestThatWasLeftOpenIsNotClosedOverAnErrorThatIsBack(t *testing.T) {
	t.Parallel()
	s := newBroken(t)
	s.pass(t, health.PassFailed)
	s.clock.move(health.RepairCooldown)
	s.fix(t)
	s.goesAway("Health check")
	s.pass(t, health.PassHealthy)
	s.pass(t, health.PassHealthy)
	s.held(t, health.PassHealthy)
	s.goesAway("")
	s.breakIt(t, "order 17 has no price")
	s.comes = workflow.NeedsInput
	if h := s.pass(t, health.PassWaiting).Health; len(h.Loop.Unclosed) != 0 {
		t.Errorf("it would be closed: %q", h.Loop.Unclosed)
	}
	if open, all := s.requests(t); len(open) != 1 || all != 1 {
		t.Errorf("requests %q of %d", open, all)
	}
}
