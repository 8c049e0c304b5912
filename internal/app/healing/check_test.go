package healing

import (
	"testing"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/config"
	"signalbox/internal/health"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func TestAHealthCheckGetsTheDefaultsThatTheConfigurationLeavesOut(t *testing.T) {
	t.Parallel()
	p := &app.App{Project: &wire.Project{Config: config.Config{Tests: config.Lines{"a", "b"}, Limits: config.Limits{TestTotal: 90 * time.Second}}}}
	no := false
	for _, c := range []struct {
		name  string
		check config.Check
		limit time.Duration
		looks int
	}{
		{"a command", config.Check{Kind: config.CheckCommand}, time.Minute, 2},
		{"a command with a limit", config.Check{Kind: config.CheckCommand, TimeLimit: time.Second}, time.Second, 2},
		{"a limit below a millisecond", config.Check{Kind: config.CheckCommand, TimeLimit: time.Microsecond}, time.Millisecond, 2},
		{"a command that needs no confirmation", config.Check{Kind: config.CheckCommand, Confirm: &no}, time.Minute, 1},
		{"a log", config.Check{Kind: config.CheckLog}, time.Minute, 1},
		{"the forge's CI", config.Check{Kind: config.CheckForgeCI}, time.Minute, 1},
		{"the tests of the branch", config.Check{Kind: config.CheckBranchTests}, 3 * time.Minute, 2},
	} {
		got := healthCheck(p, c.check)
		if got.TimeLimitMS != c.limit.Milliseconds() || got.Looks != c.looks || got.Severity != workflow.Major || got.HTTP != nil {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if h := healthCheck(p, config.Check{Kind: config.CheckHTTP, URL: "http://localhost"}).HTTP; h == nil || h.Method != "GET" || h.Status != 200 {
		t.Errorf("an HTTP check: %+v", h)
	}
	if h := healthCheck(p, config.Check{Kind: config.CheckHTTP, Method: "HEAD", Status: 204}).HTTP; h.Method != "HEAD" || h.Status != 204 {
		t.Errorf("an HTTP check with settings of its own: %+v", h)
	}
}

func TestNoPassBeginsBesideAnother(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := Standing{State: health.New(now)}
	if gate := at.Gate(time.Hour, now); gate.Decision != health.GateGo {
		t.Fatalf("with no process at work: %+v", gate)
	}
	at.Holder = &store.LockRecord{PID: 7, Host: "here", AcquiredAt: now}
	if gate := at.Gate(time.Hour, now); gate.Decision == health.GateGo {
		t.Fatalf("with a process at work: %+v", gate)
	}
	if at.CutOff() {
		t.Fatal("cut off without a pass")
	}
	at.State.Loop.Pass = &health.Pass{}
	if at.CutOff() {
		t.Fatal("cut off with a process at work")
	}
	if at.Holder = nil; !at.CutOff() {
		t.Fatal("not cut off with no process at work")
	}
}
