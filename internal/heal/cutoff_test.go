package heal_test

import (
	"os"
	"path/filepath"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/health"
	"signalbox/internal/workflow"
)

// cutOff leaves the state as a kill between what a look found and the repair of it.
func (s *site) cutOff(t *testing.T, check string) {
	t.Helper()
	if err := s.store.Health().Update(t.Context(), func(h *health.State) error {
		h.Found(health.Pass{ID: "cut-off", StartedAt: "2026-02-02T11:15:00Z"},
			[]health.Failure{{Check: check, ErrorID: check + "-0123456789ab", Summary: "exit code 1", Severity: workflow.Blocker}}, s.clock.now())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestAnErrorThatIsGoneAfterAPassWasCutOffIsNotRepaired(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken, command("other", "! test -e other"))
	s.cutOff(t, "whole")
	s.pass(t, health.PassHealthy)
	s.cutOff(t, "whole")
	if err := os.WriteFile(filepath.Join(s.dir, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.pass(t, health.PassRepaired)
	if len(s.runs) != 1 || s.runs[0].Check.ID != "other" {
		t.Errorf("repaired: %+v", s.runs)
	}
}

func TestAPassThatResumesARepairReportsItsOwnFindings(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken, verdict)
	s.says("")
	s.comes = workflow.NeedsInput
	s.breakIt(t, "order 17 has no price")
	if h := s.pass(t, health.PassWaiting).Health; len(h.Loop.Unseen) != 1 {
		t.Fatalf("unseen: %+v", h.Loop.Unseen)
	}
	s.comes = workflow.Done
	s.says(forge.CheckPassed)
	if h := s.pass(t, health.PassRepaired).Health; len(h.Loop.Unseen) != 0 {
		t.Errorf("unseen after a verdict: %+v", h.Loop.Unseen)
	}
}
