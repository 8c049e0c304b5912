package heal_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// site is a project with health checks: real commands in its folder, and real request files. The test decides how a run ends.
type site struct {
	dir    string
	clock  *clock
	store  *store.Store
	forge  forge.Forge
	config heal.Config
	// comes is what the next runs come to.
	comes workflow.State
	runs  []heal.Repair
	// written is called around every change of a document.
	written func()
	said    []string
}

var begin = time.Date(2026, 2, 2, 11, 15, 0, 0, time.UTC)

func openSite(ctx context.Context, dir string, checks ...workflow.HealthCheck) (*site, error) {
	s := &site{dir: dir, clock: &clock{at: begin}, comes: workflow.Done, written: func() {}}
	repo, err := git.Open(ctx, process.Host{}, dir)
	if err != nil {
		return nil, err
	}
	mask := redact.New(map[string]string{"API_TOKEN": "hunter2hunter2"})
	if s.store, err = store.Open(ctx, store.Config{Root: dir, Clock: func() time.Time { s.written(); return s.clock.now() }, Redact: mask.String}); err != nil {
		return nil, err
	}
	s.forge = local.New(local.Config{Repo: repo, Store: s.store, Root: dir, Clock: s.clock.now})
	s.config = heal.Config{Store: s.store, Forge: s.forge, Checks: checks, Tests: []string{"true"}, Every: 5 * time.Minute, Root: dir,
		Place: func(context.Context) (heal.Place, error) { return yard{process.Host{}, dir}, nil }, Run: s.runRepair, Redact: mask, Clock: s.clock.now,
		ID: func() string { return rand.Text() }, Observe: func(line string) { s.said = append(s.said, line) }}
	return s, nil
}

// newBroken returns a site with an error that no repair fixes.
func newBroken(t *testing.T) *site {
	t.Helper()
	s := newSite(t, unbroken)
	s.comes = workflow.Failed
	s.breakIt(t, "order 17 has no price")
	return s
}

// newFixed returns a site that a person fixed after three failed repairs, and that two passes have seen healthy.
func newFixed(t *testing.T) *site {
	t.Helper()
	s := newBroken(t)
	for _, comes := range []health.Result{health.PassFailed, health.PassFailed, health.PassCritical} {
		s.clock.move(health.RepairCooldown)
		s.pass(t, comes)
	}
	s.fix(t)
	s.pass(t, health.PassCritical)
	s.pass(t, health.PassCritical)
	return s
}

func newSite(t *testing.T, checks ...workflow.HealthCheck) *site {
	t.Helper()
	s, err := openSite(t.Context(), newRepository(t), checks...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.store.Close() })
	return s
}

func newRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	initialize(t, dir)
	return dir
}

func initialize(t testing.TB, dir string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "git", "init", "--quiet", "--template=", "--initial-branch=main", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// yard is a place that is the project's folder itself.
type yard struct {
	process.Host
	dir string
}

func (y yard) Dir() string                 { return y.dir }
func (y yard) Close(context.Context) error { return nil }
func (y yard) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Dir, c.Env = y.dir, append(c.Env, "PATH="+os.Getenv("PATH"))
	return y.Host.Exec(ctx, c)
}

// slowYard is one where every command takes three seconds, or as long as it may.
type slowYard struct{ yard }

func (slowYard) Exec(_ context.Context, c process.Command) (process.Result, error) {
	if takes := 3 * time.Second; takes <= c.Total {
		return process.Result{Ending: process.Exited, Duration: takes}, nil
	}
	return process.Result{Ending: process.TimedOut, Duration: c.Total}, nil
}

// runRepair performs a run that ends as comes says. A run that merges fixes what is broken, and closes its request.
func (s *site) runRepair(ctx context.Context, r heal.Repair) (workflow.Run, error) {
	s.runs = append(s.runs, r)
	run := workflow.Run{RequestID: r.Request.ID, RunID: fmt.Sprintf("%s-%06d", s.clock.now().Format("20060102-150405"), len(s.runs)), State: s.comes}
	run.Details.Number, run.Details.Settings.Check = r.Request.Number, &r.Check
	run.Details.Spent = workflow.Usage{InputTokens: 100, OutputTokens: 10, CostMicroUSD: 2500}
	run.Counters.ImplementerCalls = 1
	switch s.comes {
	case workflow.Done:
		return run, errors.Join(os.RemoveAll(filepath.Join(s.dir, "broken")), s.forge.CloseRequest(ctx, r.Request, "c0ffee"))
	case workflow.NeedsInput:
		run.Details.Phase = workflow.ApprovalWait
		run.Error = &workflow.Error{ReasonCode: workflow.ApprovalRequired}
	case workflow.Failed:
		run.Error = &workflow.Error{ReasonCode: "TESTS_FAILED", Title: "the tests still fail after every attempt"}
	}
	return run, nil
}

// runWithoutCheck is a run that merged something else.
func (s *site) runWithoutCheck(_ context.Context, r heal.Repair) (workflow.Run, error) {
	return workflow.Run{RequestID: r.Request.ID, RunID: "20260202-111500-000001", State: workflow.Done}, nil
}

// runAfter tells that it is called and waits to go on.
func (s *site) runAfter(begun chan<- struct{}, goOn <-chan struct{}) func(context.Context, heal.Repair) (workflow.Run, error) {
	return func(ctx context.Context, r heal.Repair) (workflow.Run, error) {
		close(begun)
		<-goOn
		return s.runRepair(ctx, r)
	}
}

// fix does what a person does about breakIt.
func (s *site) fix(t *testing.T) {
	t.Helper()
	if err := os.Remove(filepath.Join(s.dir, "broken")); err != nil {
		t.Fatal(err)
	}
}

// breakIt makes the check of unbroken fail.
func (s *site) breakIt(t *testing.T, message string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "broken"), []byte(message+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// unbroken fails while there is a file "broken", with what is in it.
var unbroken = workflow.HealthCheck{ID: "whole", Kind: workflow.HealthCommand, Severity: workflow.Major, Command: "! cat broken 2>/dev/null", TimeLimitMS: 60_000, Looks: 2}

// pass makes one, which must come to a result.
func (s *site) pass(t *testing.T, want health.Result) heal.Report {
	t.Helper()
	report, err := s.config.Pass(t.Context())
	if err != nil || report.Result != want {
		t.Fatalf("the pass came to %q (%v), want %q; said:\n%s", report.Result, err, want, strings.Join(s.said, "\n"))
	}
	if err := report.Health.Validate(); err != nil {
		t.Errorf("state.json: %v", err)
	}
	return report
}

// counts are the counters and the status of the state.json on disk.
func (s *site) counts(t *testing.T) string {
	t.Helper()
	h, err := s.store.Health().Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s retry=%t failures=%d detected=%d attempted=%d succeeded=%d runs=%d", h.LastHealthStatus, h.RetryRequired, h.ContinuousFailureCount,
		h.TotalErrorsDetected, h.TotalFixesAttempted, h.TotalFixesSucceeded, h.RunCount)
}

func (s *site) wantCounts(t *testing.T, want string) {
	t.Helper()
	if got := s.counts(t); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// requests are the titles of those that are open, and how many there are in all.
func (s *site) requests(t *testing.T) (open []string, all int) {
	t.Helper()
	requests, err := s.forge.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if !r.Closed {
			open = append(open, r.Title)
		}
	}
	return open, len(requests)
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// meeting is a place whose users wait for each other in meet.
type meeting struct {
	heal.Place
	meet func()
}

func (m meeting) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	m.meet()
	return m.Place.Exec(ctx, c)
}
