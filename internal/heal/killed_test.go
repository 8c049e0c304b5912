package heal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/workflow"
)

// The test binary is also the process that is killed: where, what its runs come to, and at which
// instant it dies.
const (
	siteVariable    = "SIGNALBOX_TEST_SITE"
	comesVariable   = "SIGNALBOX_TEST_COMES"
	checkVariable   = "SIGNALBOX_TEST_CHECK"
	instantVariable = "SIGNALBOX_TEST_INSTANT"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(siteVariable); dir != "" {
		passAndDie(dir)
	}
	os.Exit(m.Run())
}

func passAndDie(dir string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	instant, err := strconv.Atoi(os.Getenv(instantVariable))
	check := unbroken
	if os.Getenv(checkVariable) == logged.ID {
		check = logged
	}
	s, openErr := openSite(ctx, dir, check)
	if err = errors.Join(err, openErr); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	s.comes = workflow.State(os.Getenv(comesVariable))
	d := &deadly{instant: int64(instant)}
	d.arm(s)
	if _, err := s.config.Pass(ctx); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// deadly kills this process, as kill -9 does, at one of the steps of a pass: a call to another component, or the beginning or end of a change to a
// document. At most one write lies between any two of them.
type deadly struct {
	forge.Forge
	passed  atomic.Int64
	instant int64
}

func (d *deadly) pass() {
	if d.passed.Add(1)-1 == d.instant {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (d *deadly) arm(s *site) {
	d.Forge = s.forge
	place, runRepair, now, observe := s.config.Place, s.config.Run, s.config.Clock, s.config.Observe
	s.config.Forge, s.written = d, d.pass
	s.config.Place = func(ctx context.Context) (heal.Place, error) { d.pass(); return place(ctx) }
	s.config.Clock = func() time.Time { d.pass(); return now() }
	s.config.Observe = func(line string) { d.pass(); observe(line) }
	s.config.Run = func(ctx context.Context, r heal.Repair) (workflow.Run, error) {
		d.pass()
		defer d.pass()
		return runRepair(ctx, r)
	}
}

func (d *deadly) Request(ctx context.Context, ref string) (forge.Request, error) {
	d.pass()
	defer d.pass()
	return d.Forge.Request(ctx, ref)
}

func (d *deadly) OpenRequest(ctx context.Context, key, title, body string) (forge.Request, error) {
	d.pass()
	defer d.pass()
	return d.Forge.OpenRequest(ctx, key, title, body)
}

func (d *deadly) CloseRequest(ctx context.Context, r forge.Request, commit string) error {
	d.pass()
	defer d.pass()
	return d.Forge.CloseRequest(ctx, r, commit)
}

// killedAt makes a pass in a process of its own, which dies at an instant. It reports whether it did.
func killedAt(t *testing.T, dir, check string, comes workflow.State, instant int) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), siteVariable+"="+dir, checkVariable+"="+check, comesVariable+"="+string(comes), instantVariable+"="+strconv.Itoa(instant), "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("the pass that dies at instant %d: %v\n%s", instant, err, out)
	}
	return false
}

func TestAPassKilledAtEveryPointIsResumedAndCountsNothingTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		comes workflow.State
		// before are the failed repairs before the pass that is killed.
		before               int
		after, verified      string
		result               health.Result
		requests, openAtLast int
	}{
		"of a repair that succeeds": {comes: workflow.Done, after: "degraded retry=false failures=0 detected=1 attempted=1 succeeded=1 runs=1",
			verified: "healthy retry=false failures=0 detected=1 attempted=1 succeeded=1 runs=2", result: health.PassRepaired, requests: 1},
		"of a repair that fails": {comes: workflow.Failed, after: "degraded retry=true failures=1 detected=1 attempted=1 succeeded=0 runs=1",
			result: health.PassFailed, requests: 1, openAtLast: 1},
		"of the third that fails": {comes: workflow.Failed, before: 2, after: "critical retry=false failures=3 detected=1 attempted=3 succeeded=0 runs=",
			result: health.PassCritical, requests: 2, openAtLast: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ready := newSite(t, unbroken)
			ready.comes = c.comes
			ready.breakIt(t, "order 17 has no price")
			for range c.before {
				ready.pass(t, health.PassFailed)
				ready.cool(t)
			}
			for instant, killed := 0, true; killed; instant++ {
				s := ready.copy(t, unbroken)
				killed = killedAt(t, s.dir, unbroken.ID, c.comes, instant)
				s.goOn(t, c.after, c.verified)
				open, all := s.requests(t)
				if all != c.requests || len(open) != c.openAtLast {
					t.Errorf("killed at instant %d: %d requests, open %q", instant, all, open)
				}
				if past, err := heal.Past(t.Context(), s.store); err != nil || len(past.Passes) <= c.before {
					t.Errorf("killed at instant %d: the log is %+v, %v", instant, past, err)
				}
				if !killed && instant < 10 {
					t.Errorf("there are only %d instants: this kills nothing", instant)
				}
			}
		})
	}
}

// logged fails when a line with ERROR was added to a log.
var logged = workflow.HealthCheck{ID: "log", Kind: workflow.HealthLog, Severity: workflow.Major, File: "app.log", Pattern: `ERROR`, Rerun: "true", TimeLimitMS: 60_000, Looks: 1}

// How far a log was read is not ahead of what was found there: the lines are never read again.
func TestAnErrorOfALogOutlivesAKillAtEveryPoint(t *testing.T) {
	t.Parallel()
	ready := newSite(t, logged)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(ready.dir, "app.log"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("07:00:00 begun\n")
	ready.pass(t, health.PassHealthy)
	write("07:00:00 begun\n07:01:00 ERROR of order 17\n")
	for instant, killed := 0, true; killed; instant++ {
		s := ready.copy(t, logged)
		killed = killedAt(t, s.dir, logged.ID, workflow.Done, instant)
		report, err := s.config.Pass(t.Context())
		if err != nil || report.Health.TotalErrorsDetected != 1 {
			t.Errorf("killed at instant %d: %+v, %v", instant, report.Health, err)
		}
	}
}

// copy is another site that is as this one is.
func (s *site) copy(t *testing.T, check workflow.HealthCheck) *site {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	same, err := openSite(t.Context(), dir, check)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = same.store.Close() })
	same.comes = s.comes
	return same
}

// cool ends the cooldown on disk: the process that is killed has a clock of its own.
func (s *site) cool(t *testing.T) {
	t.Helper()
	if err := s.store.Health().Update(t.Context(), func(h *health.State) error { h.CooldownUntil = ""; return nil }); err != nil {
		t.Fatal(err)
	}
}

// goOn makes passes until one more changes nothing that is counted but the passes; then the state must be
// after, or after the look that verifies it, verified.
func (s *site) goOn(t *testing.T, after, verified string) {
	t.Helper()
	last := ""
	for range 3 {
		if _, err := s.config.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		if last = s.counts(t); strings.HasPrefix(last, after) { // every look at a critical state is a run
			return
		}
		if verified != "" && strings.HasPrefix(last, strings.TrimSuffix(verified, "runs=2")) {
			return
		}
	}
	t.Errorf("the state is %s, want %s or %s", last, after, verified)
}
