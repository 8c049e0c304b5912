package workflow_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"signalbox/internal/workflow"
)

var healthStart = time.Date(2026, 2, 2, 11, 15, 0, 0, time.UTC)

// pass is one moment of a story of the loop: facts, then what the gate says.
type pass struct {
	after  time.Duration // since the pass before
	facts  []workflow.HealthFactKind
	gate   workflow.GateDecision
	retry  bool
	count  int
	status string
}

func TestPatternsOfTheSelfHealingLoop(t *testing.T) {
	t.Parallel()
	const minutes5 = 5 * time.Minute
	found, tried := workflow.FactErrorDetected, workflow.FactFixAttempted
	failed := []workflow.HealthFactKind{found, tried, workflow.FactFixFailed}
	mended := []workflow.HealthFactKind{found, tried, workflow.FactFixSucceeded}
	healthy, rearmed := []workflow.HealthFactKind{workflow.FactHealthy}, []workflow.HealthFactKind{workflow.FactRearmed}
	for name, passes := range map[string][]pass{
		"nobody has looked yet": {{0, nil, workflow.GateGo, false, 0, "unknown"}},
		"1 healthy: the next pass is skipped, until a look is due": {
			{0, healthy, workflow.GateStop, false, 0, "healthy"}, {minutes5, nil, workflow.GateStop, false, 0, "healthy"},
			{54 * time.Minute, nil, workflow.GateStop, false, 0, "healthy"}, {time.Minute, nil, workflow.GateGo, false, 0, "healthy"}},
		"2 repaired: verified by the next pass": {
			{0, mended, workflow.GateGo, false, 0, "degraded"}, {minutes5, healthy, workflow.GateStop, false, 0, "healthy"}},
		"3 repair failed: cooldown, then again": {
			{0, failed, workflow.GateCooldown, true, 1, "degraded"}, {299 * time.Second, nil, workflow.GateCooldown, true, 1, "degraded"},
			{time.Second, nil, workflow.GateGo, true, 1, "degraded"}, {0, mended, workflow.GateGo, false, 0, "degraded"}},
		"4 third failure in a row: critical until a person acts": {
			{0, failed, workflow.GateCooldown, true, 1, "degraded"}, {minutes5, failed, workflow.GateCooldown, true, 2, "degraded"},
			{minutes5, failed, workflow.GateCritical, false, 3, "critical"}, {100 * time.Hour, nil, workflow.GateCritical, false, 3, "critical"},
			{0, []workflow.HealthFactKind{found}, workflow.GateCritical, false, 3, "critical"},
			{0, []workflow.HealthFactKind{workflow.FactFixFailed}, workflow.GateCritical, false, 4, "critical"},
			{0, healthy, workflow.GateStop, false, 0, "healthy"}},
		"4 and a person who says that it goes on: a repair is due at once": {
			{0, failed, workflow.GateCooldown, true, 1, "degraded"}, {minutes5, failed, workflow.GateCooldown, true, 2, "degraded"},
			{0, rearmed, workflow.GateCooldown, true, 2, "degraded"}, {minutes5, failed, workflow.GateCritical, false, 3, "critical"},
			{minutes5, rearmed, workflow.GateGo, false, 0, "degraded"}, {0, failed, workflow.GateCooldown, true, 1, "degraded"}},
		"a success in between begins the count anew": {
			{0, failed, workflow.GateCooldown, true, 1, "degraded"}, {minutes5, failed, workflow.GateCooldown, true, 2, "degraded"},
			{minutes5, mended, workflow.GateGo, false, 0, "degraded"}, {minutes5, failed, workflow.GateCooldown, true, 1, "degraded"}},
		"a repairer that died is asked again": {
			{0, []workflow.HealthFactKind{found, tried}, workflow.GateGo, false, 0, "degraded"}},
	} {
		h, now := workflow.NewHealth(healthStart), healthStart
		for i, p := range passes {
			now = now.Add(p.after)
			for _, kind := range p.facts {
				if _, err := h.Record(workflow.HealthFact{Kind: kind, ErrorID: "e1", Summary: "refused"}, now); err != nil {
					t.Fatal(err)
				}
			}
			gate := h.Gate(0, now)
			if gate.Decision != p.gate || gate.Reason == "" || h.RetryRequired != p.retry || h.ContinuousFailureCount != p.count || h.LastHealthStatus != p.status {
				t.Errorf("%s, pass %d: %+v after %+v", name, i+1, gate, h)
			}
			if err := h.Validate(); err != nil {
				t.Errorf("%s, pass %d: %v", name, i+1, err)
			}
		}
	}
}

func TestACriticalStateIsLookedAtAsOftenAsAHealthyOne(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) string { return healthStart.Add(d).Format(time.RFC3339) }
	for _, c := range []struct {
		name, status, written, next string
		want                        bool
	}{
		{"just looked at", "critical", at(0), at(time.Hour), false},
		{"looked at an hour ago", "critical", at(-time.Hour), at(0), true},
		{"recorded, not looked at", "critical", at(-time.Minute), "", false},
		{"of another clock", "critical", at(24 * time.Hour), at(25 * time.Hour), true},
		{"not critical", "degraded", at(-2 * time.Hour), "", false},
	} {
		h := workflow.Health{LastHealthStatus: c.status, UpdatedAt: c.written, Loop: workflow.HealthLoop{NextRunAt: c.next}}
		if got := h.Gate(time.Hour, healthStart); got.Look != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestNoPassBeginsBesideAnother(t *testing.T) {
	t.Parallel()
	for decision, want := range map[workflow.GateDecision]workflow.GateDecision{workflow.GateGo: workflow.GateStop, workflow.GateStop: workflow.GateStop,
		workflow.GateCooldown: workflow.GateCooldown, workflow.GateCritical: workflow.GateCritical} {
		before := workflow.Gate{Decision: decision, Reason: "as it is", Look: true}
		if got := before.Beside("pid 7"); got.Decision != want || got.Look || (got.Reason == "a pass is running: pid 7") != (decision == workflow.GateGo) {
			t.Errorf("%s becomes %+v", decision, got)
		}
	}
}

func TestNoClockAndNoValueStopsTheLoopForLongerThanItsCooldown(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) string { return healthStart.Add(d).Format(time.RFC3339) }
	for _, c := range []struct {
		name            string
		until, written  string
		status          string
		retry           bool
		want            workflow.GateDecision
		wantUntilOffset time.Duration
	}{
		{"honest", at(200 * time.Second), at(-100 * time.Second), "degraded", true, workflow.GateCooldown, 200 * time.Second},
		{"year 9999, just written", "9999-12-31T23:59:59Z", at(0), "degraded", true, workflow.GateCooldown, 300 * time.Second},
		{"year 9999, written long ago", "9999-12-31T23:59:59Z", at(-time.Hour), "degraded", true, workflow.GateGo, 0},
		{"year 9999, written by nobody knows when", "9999-12-31T23:59:59Z", "", "degraded", true, workflow.GateGo, 0},
		{"clock set back by a day since", at(24*time.Hour + 300*time.Second), at(24 * time.Hour), "degraded", true, workflow.GateGo, 0},
		{"no cooldown", "", at(0), "degraded", true, workflow.GateGo, 0},
		{"cooldown that is no time", "soon", at(0), "degraded", true, workflow.GateGo, 0},
		{"offset of another zone", "2026-02-02T20:19:00+09:00", at(0), "degraded", true, workflow.GateCooldown, 240 * time.Second},
		{"healthy, written in the future", "", at(time.Hour), "healthy", false, workflow.GateGo, 0},
		{"healthy, written by nobody knows when", "", "", "healthy", false, workflow.GateGo, 0},
		{"a word of another program", "", at(0), "so-so", false, workflow.GateGo, 0},
	} {
		h := workflow.Health{RetryRequired: c.retry, CooldownUntil: c.until, UpdatedAt: c.written, LastHealthStatus: c.status}
		got := h.Gate(time.Hour, healthStart)
		if got.Decision != c.want || c.wantUntilOffset > 0 && !got.Until.Equal(healthStart.Add(c.wantUntilOffset)) {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

// Any facts at any times: totals only grow, and the gate never waits longer than a cooldown.
func TestAnyFactsLeaveALegalState(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, now, criticals := workflow.NewHealth(healthStart), healthStart, 0
		for range rapid.IntRange(1, 40).Draw(t, "facts") {
			before := h
			now = now.Add(time.Duration(rapid.IntRange(-1000, 5000).Draw(t, "seconds")) * time.Second)
			fact := workflow.HealthFact{Kind: rapid.SampledFrom(workflow.HealthFactKinds).Draw(t, "fact"), ErrorID: "e"}
			critical, err := h.Record(fact, now)
			if err != nil {
				t.Fatal(err)
			}
			if critical {
				criticals++
			}
			if critical != (before.LastHealthStatus != "critical" && h.LastHealthStatus == "critical") || (h.CriticalKey() != "") != (h.LastHealthStatus == "critical") {
				t.Fatalf("critical is %t between %+v and %+v", critical, before, h)
			}
			if h.TotalErrorsDetected < before.TotalErrorsDetected || h.TotalFixesAttempted < before.TotalFixesAttempted ||
				h.TotalFixesSucceeded < before.TotalFixesSucceeded || h.RunCount < before.RunCount {
				t.Fatalf("a total went from %+v to %+v", before, h)
			}
			if err := h.Validate(); err != nil {
				t.Fatal(err)
			}
			if gate := h.Gate(0, now); gate.Decision == workflow.GateCooldown && gate.Until.Sub(now) > workflow.RepairCooldown {
				t.Fatalf("waits until %s at %s", gate.Until, now)
			}
			if gate := h.Gate(0, now.Add(301*time.Second)); gate.Decision == workflow.GateCooldown {
				t.Fatalf("still waits after the cooldown: %+v of %+v", gate, h)
			}
		}
	})
}

func TestAReportedErrorBeginsThePassesInARowAnew(t *testing.T) {
	t.Parallel()
	for kind, want := range map[workflow.HealthFactKind]int{workflow.FactErrorDetected: 0, workflow.FactFixFailed: 0, workflow.FactFixAttempted: 2} {
		h := workflow.NewHealth(healthStart)
		h.Loop.HealthyPasses = 2
		if _, err := h.Record(workflow.HealthFact{Kind: kind, ErrorID: "e"}, healthStart); err != nil || h.Loop.HealthyPasses != want {
			t.Errorf("%s leaves %d, %v", kind, h.Loop.HealthyPasses, err)
		}
	}
}

func TestEveryCriticalTimeHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	h, keys := workflow.NewHealth(healthStart), map[string]bool{}
	for i := range 3 {
		for n := range 4 {
			critical, err := h.Record(workflow.HealthFact{Kind: workflow.FactFixFailed}, healthStart.Add(time.Duration(10*i+n)))
			if err != nil || critical != (n == 2) {
				t.Fatalf("failure %d: critical is %t, %v", n+1, critical, err)
			}
		}
		keys[h.CriticalKey()] = true
		if _, err := h.Record(workflow.HealthFact{Kind: workflow.FactHealthy}, healthStart); err != nil || h.CriticalKey() != "" {
			t.Fatalf("healthy, and the key is %q, %v", h.CriticalKey(), err)
		}
	}
	if len(keys) != 3 || keys[""] {
		t.Errorf("the keys are %v", keys)
	}
}

func TestFactsThatSayNothingAreRefusedAndChangeNothing(t *testing.T) {
	t.Parallel()
	for _, fact := range []workflow.HealthFact{
		{}, {Kind: "fine"}, {Kind: workflow.FactErrorDetected}, {Kind: workflow.FactErrorDetected, ErrorID: "a\nb"},
		{Kind: workflow.FactErrorDetected, ErrorID: strings.Repeat("x", 201)},
	} {
		h := workflow.NewHealth(healthStart)
		if _, err := h.Record(fact, healthStart.Add(time.Hour)); err == nil || h.UpdatedAt != h.CreatedAt || h.TotalErrorsDetected != 0 {
			t.Errorf("%+v was taken: %+v, %v", fact, h, err)
		}
	}
	h := workflow.NewHealth(healthStart)
	if _, err := h.Record(workflow.HealthFact{Kind: workflow.FactErrorDetected, ErrorID: "e", Summary: strings.Repeat("ä", 5000)}, healthStart); err != nil || len([]rune(h.LastErrorSummary)) != 4000 {
		t.Errorf("a long summary has %d characters, %v", len([]rune(h.LastErrorSummary)), err)
	}
}

func TestHealthThatNoCarefulWriterLeavesIsNotValid(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*workflow.Health){
		"created_at":               func(h *workflow.Health) { h.CreatedAt = "" },
		"updated_at":               func(h *workflow.Health) { h.UpdatedAt = "2026-01-01T00:00:00" },
		"cooldown_until":           func(h *workflow.Health) { h.CooldownUntil = "soon" },
		"last_health_status":       func(h *workflow.Health) { h.LastHealthStatus = "" },
		"run_count":                func(h *workflow.Health) { h.RunCount = -1 },
		"total_fixes_succeeded":    func(h *workflow.Health) { h.TotalFixesSucceeded = 1 },
		"continuous_failure_count": func(h *workflow.Health) { h.ContinuousFailureCount = -1 },
		"retry_required":           func(h *workflow.Health) { h.LastHealthStatus, h.RetryRequired = "critical", true },
	} {
		h := workflow.NewHealth(healthStart)
		spoil(&h)
		if err := h.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
