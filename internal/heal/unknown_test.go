package heal_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/health"
	"signalbox/internal/workflow"
)

var verdict = workflow.HealthCheck{ID: "ci", Kind: workflow.HealthForgeCI, Severity: workflow.Major, TimeLimitMS: 60_000, Looks: 1}

// says lets CI say of the branch what state is, or nothing where it is empty.
func (s *site) says(state forge.CheckState) {
	s.config.Branch = func(context.Context) (forge.Check, error) {
		if state == "" {
			return forge.Check{}, fmt.Errorf("checks of main: %w", forge.ErrNoChecks)
		}
		return forge.Check{State: state, Command: "make", Summary: "make: *** [test] Error 1"}, nil
	}
}

func TestAProjectWithoutVerdictsIsNotHealthy(t *testing.T) {
	t.Parallel()
	s := newSite(t, workflow.HealthCheck{ID: "log", Kind: workflow.HealthLog, File: "ap.log", Pattern: `ERROR`, Rerun: "true", TimeLimitMS: 60_000, Looks: 1})
	h := s.pass(t, health.PassUnknown).Health
	if got, want := s.counts(t), "unknown retry=false failures=0 detected=0 attempted=0 succeeded=0 runs=1"; got != want || h.Loop.HealthyPasses != 0 {
		t.Errorf("%s with %d healthy passes, want %s", got, h.Loop.HealthyPasses, want)
	}
	if len(h.Loop.Unseen) != 1 || h.Loop.Unseen[0].Check != "log" || h.Loop.Unseen[0].Why != "log ap.log is not there" {
		t.Errorf("unseen: %+v", h.Loop.Unseen)
	}
}

func TestACheckWithoutAVerdictBesideOneThatPassedIsNamed(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken, verdict)
	s.says("")
	if h := s.pass(t, health.PassHealthy).Health; len(h.Loop.Unseen) != 1 || h.Loop.Unseen[0].Check != "ci" {
		t.Errorf("unseen: %+v", h.Loop.Unseen)
	}
	s.says(forge.CheckPassed)
	if h := s.pass(t, health.PassHealthy).Health; len(h.Loop.Unseen) != 0 {
		t.Errorf("unseen after a verdict: %+v", h.Loop.Unseen)
	}
}

func TestHealthBecomesUnknownWhenNoLookIsPossible(t *testing.T) {
	t.Parallel()
	s := newSite(t, verdict)
	s.says(forge.CheckPassed)
	s.pass(t, health.PassHealthy)
	s.says("")
	s.pass(t, health.PassUnknown)
	s.wantCounts(t, "unknown retry=false failures=0 detected=0 attempted=0 succeeded=0 runs=2")
}

// However often the others pass: an error is gone, and a critical state over, when what failed passed.
func TestNoErrorIsGoneByLooksThatDidNotSeeItsCheck(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken, verdict)
	s.comes = workflow.Failed
	s.says(forge.CheckFailed)
	for _, want := range []health.Result{health.PassFailed, health.PassFailed, health.PassCritical} {
		s.pass(t, want)
		s.clock.move(time.Hour)
	}
	s.says("")
	for range 5 {
		s.pass(t, health.PassCritical)
	}
	if open, _ := s.requests(t); len(open) != 2 {
		t.Errorf("open: %q", open)
	}
	s.says(forge.CheckPassed)
	s.pass(t, health.PassCritical)
	s.pass(t, health.PassCritical)
	s.pass(t, health.PassHealthy)
	if open, _ := s.requests(t); len(open) != 0 {
		t.Errorf("open after three looks: %q", open)
	}
}
