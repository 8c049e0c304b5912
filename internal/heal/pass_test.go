package heal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

func TestAnErrorIsRepairedOnceAndVerifiedByTheNextPass(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken)
	s.pass(t, health.PassHealthy)
	s.breakIt(t, "cannot open settings: password=hunter2hunter2 of https://x.example/?token=hunter23hunter23")
	report := s.pass(t, health.PassRepaired)
	s.wantCounts(t, "degraded retry=false failures=0 detected=1 attempted=1 succeeded=1 runs=2")
	if r := report.Pass.Repairs[0]; r.Outcome != health.RepairFixed || r.CostMicroUSD != 2500 || r.Tokens != 110 || r.Calls != 1 {
		t.Errorf("the repair is %+v", r)
	}
	s.pass(t, health.PassHealthy)
	s.wantCounts(t, "healthy retry=false failures=0 detected=1 attempted=1 succeeded=1 runs=3")
	if len(s.runs) != 1 || !strings.Contains(s.runs[0].Request.Body, "cannot open settings") {
		t.Errorf("runs: %+v", s.runs)
	}
	s.breakIt(t, "cannot open settings: password=hunter2hunter2")
	s.pass(t, health.PassRepaired)
	if open, all := s.requests(t); len(open) != 0 || all != 2 || s.runs[1].Request.ID == s.runs[0].Request.ID {
		t.Errorf("an error that comes again has %d requests, %q open", all, open)
	}
	s.mustHoldNoSecret(t)
	if past, err := heal.Past(t.Context(), s.store); err != nil || past.Sum() != (heal.Sum{Repairs: 2, Fixed: 2, Calls: 2, Tokens: 220, CostMicroUSD: 5000}) {
		t.Errorf("the log sums up to %+v, %v", past.Sum(), err)
	}
}

// mustHoldNoSecret looks through every file of the project but the one that the test wrote.
func (s *site) mustHoldNoSecret(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == "broken" {
			return err
		}
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "hunter2") {
			t.Errorf("%s holds a secret, %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A bug that no agent can repair, over hours: patterns 3 and 4, one request, and a person who acts.
func TestAnErrorThatCannotBeRepairedCallsAPersonOnce(t *testing.T) {
	t.Parallel()
	s := newBroken(t)
	s.pass(t, health.PassFailed)
	before := s.counts(t)
	for range 4 { // looked at every minute, as a schedule would
		s.clock.move(time.Minute)
		s.pass(t, health.PassCooldown)
	}
	if got := s.counts(t); got != before {
		t.Errorf("a pass within the cooldown changed %s to %s", before, got)
	}
	s.clock.move(time.Minute)
	s.pass(t, health.PassFailed)
	s.clock.move(time.Hour)
	s.pass(t, health.PassCritical)
	s.wantCounts(t, "critical retry=false failures=3 detected=1 attempted=3 succeeded=0 runs=3")
	for range 24 {
		s.clock.move(time.Hour)
		s.pass(t, health.PassCritical)
	}
	if len(s.runs) != 3 || s.runs[2].Judged == "" || s.runs[2].Judged == s.runs[1].Judged {
		t.Errorf("%d runs, want 3, each after the one before was over", len(s.runs))
	}
	open, all := s.requests(t)
	if all != 2 || !strings.HasPrefix(open[0], "Health check whole fails:") || !strings.HasPrefix(open[1], "Self-healing gave up:") {
		t.Fatalf("requests %q of %d", open, all)
	}
	h := s.pass(t, health.PassCritical).Health
	if err := s.forge.CloseRequest(t.Context(), forge.Request{ID: h.Loop.Request, Number: 2}, ""); err != nil {
		t.Fatal(err)
	}
	s.comes = workflow.Done
	s.pass(t, health.PassRepaired)
	s.wantCounts(t, "degraded retry=false failures=0 detected=1 attempted=4 succeeded=1 runs=29")
}

func TestAnErrorFixedByAPersonIsClosedAfterThreePasses(t *testing.T) {
	t.Parallel()
	s := newFixed(t)
	if open, _ := s.requests(t); len(open) != 2 {
		t.Errorf("open after two passes: %q", open)
	}
	s.pass(t, health.PassHealthy)
	if open, all := s.requests(t); len(open) != 0 || all != 2 {
		t.Errorf("open after three passes: %q of %d", open, all)
	}
	s.wantCounts(t, "healthy retry=false failures=0 detected=1 attempted=3 succeeded=0 runs=6")
}

// The process was killed after saving the state and before reporting it, and the error is gone by the next pass.
func TestAnUnreportedCriticalStateIsReportedLater(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken)
	if err := s.store.Health().Update(t.Context(), func(h *health.State) error {
		h.LastHealthStatus, h.Loop.CriticalSince = health.Critical, begin.Format(time.RFC3339Nano)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	h := s.pass(t, health.PassCritical).Health
	s.pass(t, health.PassCritical)
	if open, all := s.requests(t); all != 1 || len(open) != 1 || !strings.HasPrefix(open[0], "Self-healing gave up") || h.Loop.Request == "" {
		t.Errorf("requests %q of %d; noted is %q", open, all, h.Loop.Request)
	}
}

func TestARepairThatWaitsForApprovalIsResumed(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken)
	s.comes = workflow.NeedsInput
	s.breakIt(t, "order 17 has no price")
	s.pass(t, health.PassWaiting)
	s.pass(t, health.PassWaiting)
	s.wantCounts(t, "degraded retry=false failures=0 detected=1 attempted=1 succeeded=0 runs=2")
	s.comes = workflow.Done // a person agreed
	s.pass(t, health.PassRepaired)
	s.pass(t, health.PassHealthy)
	s.wantCounts(t, "healthy retry=false failures=0 detected=1 attempted=1 succeeded=1 runs=4")
	if _, all := s.requests(t); all != 1 {
		t.Errorf("%d requests", all)
	}
}

// A run that a person began, without the check among its tests, is no proof.
func TestAMergeIsAFixOnlyIfTheCheckPassesThen(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken)
	s.config.Run = s.runWithoutCheck
	s.breakIt(t, "order 17 has no price")
	s.pass(t, health.PassFailed)
}

// An http check without start asks a service elsewhere: what was merged may repair nothing there.
func TestARepairThatTheNextLookFindsUndoneIsAFailureOfTheLoop(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken)
	s.config.Run = func(ctx context.Context, r heal.Repair) (workflow.Run, error) {
		defer s.breakIt(t, "order 17 has no price")
		return s.runRepair(ctx, r)
	}
	s.breakIt(t, "order 17 has no price")
	for _, undone := range []health.Result{health.PassFailed, health.PassFailed, health.PassCritical} {
		s.pass(t, health.PassRepaired)
		s.pass(t, undone)
		s.clock.move(time.Hour)
	}
	s.wantCounts(t, "critical retry=false failures=3 detected=1 attempted=3 succeeded=3 runs=6")
	if past, err := heal.Past(t.Context(), s.store); err != nil || past.Sum() != (heal.Sum{Repairs: 3, Calls: 3, Tokens: 330, CostMicroUSD: 7500}) {
		t.Errorf("the log sums up to %+v, %v", past.Sum(), err)
	}
	if open, all := s.requests(t); all != 4 || len(open) != 1 || !strings.HasPrefix(open[0], "Self-healing gave up") {
		t.Errorf("open %q of %d", open, all)
	}
}

func TestTwoChecksThatFailByOneCauseAreOneRepair(t *testing.T) {
	t.Parallel()
	again := unbroken
	again.ID, again.Severity = "again", workflow.Minor
	s := newSite(t, unbroken, again, command("other", "! test -e other"))
	s.breakIt(t, "order 17 has no price")
	if err := os.WriteFile(filepath.Join(s.dir, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.config.Run = func(ctx context.Context, r heal.Repair) (workflow.Run, error) {
		if r.Check.ID == "other" {
			defer func() { _ = os.Remove(filepath.Join(s.dir, "other")) }()
		}
		return s.runRepair(ctx, r)
	}
	s.pass(t, health.PassRepaired)
	s.wantCounts(t, "degraded retry=false failures=0 detected=3 attempted=2 succeeded=2 runs=1")
	for range 3 {
		s.pass(t, health.PassHealthy)
	}
	if _, all := s.requests(t); all != 2 {
		t.Errorf("%d requests, want one for each cause", all)
	}
}

func TestABrokenStateIsRestoredOrRestartedAndReported(t *testing.T) {
	t.Parallel()
	for _, withBackup := range []bool{true, false} {
		s := newSite(t, unbroken)
		s.pass(t, health.PassHealthy)
		s.pass(t, health.PassHealthy)
		if err := os.WriteFile(filepath.Join(s.dir, "state.json"), []byte(`{"run_count": 2, "retry`), 0o600); err != nil {
			t.Fatal(err)
		}
		want := "healthy retry=false failures=0 detected=0 attempted=0 succeeded=0 runs=3" // the totals go on, with and without it
		if !withBackup {
			if err := os.Remove(filepath.Join(s.dir, "state.json.bak")); err != nil {
				t.Fatal(err)
			}
		}
		report := s.pass(t, health.PassHealthy)
		if report.Restored.Broken == nil || report.Restored.Backup != withBackup || !exists(t, filepath.Join(s.dir, report.Restored.Kept)) {
			t.Errorf("backup %t: %+v", withBackup, report.Restored)
		}
		if got := s.counts(t); got != want {
			t.Errorf("backup %t: %s, want %s", withBackup, got, want)
		}
	}
}

func TestTheTotalsOfAStateThatIsGoneWithItsBackupGoOn(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken)
	s.pass(t, health.PassHealthy)
	for _, name := range []string{"state.json", "state.json.bak"} {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.pass(t, health.PassHealthy)
	s.wantCounts(t, "healthy retry=false failures=0 detected=0 attempted=0 succeeded=0 runs=2")
}

func TestAClockThatGoesBackAndForwardStopsNothing(t *testing.T) {
	t.Parallel()
	s := newBroken(t)
	s.pass(t, health.PassFailed)
	s.clock.move(-30 * 24 * time.Hour)
	s.pass(t, health.PassFailed) // the end of the cooldown was written by another clock
	s.clock.move(299 * time.Second)
	s.pass(t, health.PassCooldown)
	s.clock.move(365 * 24 * time.Hour)
	s.pass(t, health.PassCritical)
	s.clock.move(-365 * 24 * time.Hour)
	s.pass(t, health.PassCritical)
	s.wantCounts(t, "critical retry=false failures=3 detected=1 attempted=3 succeeded=0 runs=4")
}

func TestTwoPassesAtOnceAreOneAndARefusal(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken)
	s.breakIt(t, "order 17 has no price")
	other, err := openSite(t.Context(), s.dir, unbroken)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.store.Close() })
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	s.config.Run = s.runAfter(begun, goOn)
	go func() {
		_, err := s.config.Pass(t.Context())
		ended <- err
	}()
	<-begun
	_, err = other.config.Pass(t.Context())
	if held := (*store.HeldError)(nil); !errors.As(err, &held) || held.Holder.PID != os.Getpid() {
		t.Errorf("the second says %v", err)
	}
	if holder, err := other.store.Healing(t.Context()); err != nil || holder == nil || holder.PID != os.Getpid() {
		t.Errorf("at it is %+v, %v", holder, err)
	}
	close(goOn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	s.wantCounts(t, "degraded retry=false failures=0 detected=1 attempted=1 succeeded=1 runs=1")
	if holder, err := other.store.Healing(t.Context()); err != nil || holder != nil {
		t.Errorf("afterwards at it is %+v, %v", holder, err)
	}
}

// In CI every pass has a folder of its own, and of the last one state.json alone.
func TestACriticalStateThatComesToANewFolderStaysCritical(t *testing.T) {
	t.Parallel()
	s := newBroken(t)
	for range 3 {
		s.clock.move(time.Hour)
		_, _ = s.config.Pass(t.Context())
	}
	elsewhere := newSite(t, unbroken)
	elsewhere.breakIt(t, "order 17 has no price")
	state, err := os.ReadFile(filepath.Join(s.dir, "state.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(elsewhere.dir, "state.json"), state, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	elsewhere.pass(t, health.PassCritical)
	elsewhere.pass(t, health.PassCritical)
	if open, all := elsewhere.requests(t); len(elsewhere.runs) != 0 || all != 1 || !strings.HasPrefix(open[0], "Self-healing gave up") {
		t.Errorf("%d runs; requests %q of %d", len(elsewhere.runs), open, all)
	}
	h := elsewhere.pass(t, health.PassCritical).Health
	if err := os.Remove(filepath.Join(elsewhere.dir, "requests", h.Loop.Request+".md")); err != nil {
		t.Fatal(err)
	}
	elsewhere.pass(t, health.PassRepaired)
}

// A resumed repair that fails starts the cooldown before anything new is looked for.
func TestAResumedRepairThatFailsEndsThePass(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken, command("other", "! test -e other"))
	s.comes = workflow.NeedsInput
	s.breakIt(t, "order 17 has no price")
	s.pass(t, health.PassWaiting)
	if err := os.WriteFile(filepath.Join(s.dir, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.comes = workflow.Failed
	if report := s.pass(t, health.PassFailed); len(report.Looks) != 0 || len(report.Pass.Repairs) != 1 {
		t.Errorf("it looked %+v and repaired %+v", report.Looks, report.Pass.Repairs)
	}
}
