package health_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"signalbox/internal/health"
)

var healthStart = time.Date(2026, 2, 2, 11, 15, 0, 0, time.UTC)

// pass is one moment of a story of the loop: facts, then what the gate says.
type pass struct {
	after  time.Duration // since the pass before
	facts  []health.FactKind
	gate   health.GateDecision
	retry  bool
	count  int
	status string
}

func TestPatternsOfTheSelfHealingLoop(t *testing.T) {
	t.Parallel()
	const minutes5 = 5 * time.Minute
	found, tried := health.FactErrorDetected, health.FactFixAttempted
	failed := []health.FactKind{found, tried, health.FactFixFailed}
	mended := []health.FactKind{found, tried, health.FactFixSucceeded}
	healthy, rearmed := []health.FactKind{health.FactHealthy}, []health.FactKind{health.FactRearmed}
	for name, passes := range map[string][]pass{
		"nobody has looked yet": {{0, nil, health.GateGo, false, 0, "unknown"}},
		"1 healthy: the next pass is skipped, until a look is due": {
			{0, healthy, health.GateStop, false, 0, "healthy"}, {minutes5, nil, health.GateStop, false, 0, "healthy"},
			{54 * time.Minute, nil, health.GateStop, false, 0, "healthy"}, {time.Minute, nil, health.GateGo, false, 0, "healthy"}},
		"2 repaired: verified by the next pass": {
			{0, mended, health.GateGo, false, 0, "degraded"}, {minutes5, healthy, health.GateStop, false, 0, "healthy"}},
		"3 repair failed: cooldown, then again": {
			{0, failed, health.GateCooldown, true, 1, "degraded"}, {299 * time.Second, nil, health.GateCooldown, true, 1, "degraded"},
			{time.Second, nil, health.GateGo, true, 1, "degraded"}, {0, mended, health.GateGo, false, 0, "degraded"}},
		"4 third failure in a row: critical until a person acts": {
			{0, failed, health.GateCooldown, true, 1, "degraded"}, {minutes5, failed, health.GateCooldown, true, 2, "degraded"},
			{minutes5, failed, health.GateCritical, false, 3, "critical"}, {100 * time.Hour, nil, health.GateCritical, false, 3, "critical"},
			{0, []health.FactKind{found}, health.GateCritical, false, 3, "critical"},
			{0, []health.FactKind{health.FactFixFailed}, health.GateCritical, false, 4, "critical"},
			{0, healthy, health.GateStop, false, 0, "healthy"}},
		"4 and a person who says that it goes on: a repair is due at once": {
			{0, failed, health.GateCooldown, true, 1, "degraded"}, {minutes5, failed, health.GateCooldown, true, 2, "degraded"},
			{0, rearmed, health.GateCooldown, true, 2, "degraded"}, {minutes5, failed, health.GateCritical, false, 3, "critical"},
			{minutes5, rearmed, health.GateGo, false, 0, "degraded"}, {0, failed, health.GateCooldown, true, 1, "degraded"}},
		"a success in between begins the count anew": {
			{0, failed, health.GateCooldown, true, 1, "degraded"}, {minutes5, failed, health.GateCooldown, true, 2, "degraded"},
			{minutes5, mended, health.GateGo, false, 0, "degraded"}, {minutes5, failed, health.GateCooldown, true, 1, "degraded"}},
		"a repairer that died is asked again": {
			{0, []health.FactKind{found, tried}, health.GateGo, false, 0, "degraded"}},
	} {
		h, now := health.New(healthStart), healthStart
		for i, p := range passes {
			now = now.Add(p.after)
			for _, kind := range p.facts {
				if _, err := h.Record(health.Fact{Kind: kind, ErrorID: "e1", Summary: "refused"}, now); err != nil {
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
		h := health.State{LastHealthStatus: c.status, UpdatedAt: c.written, Loop: health.Loop{NextRunAt: c.next}}
		if got := h.Gate(time.Hour, healthStart); got.Look != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestNoPassBeginsBesideAnother(t *testing.T) {
	t.Parallel()
	for decision, want := range map[health.GateDecision]health.GateDecision{health.GateGo: health.GateStop, health.GateStop: health.GateStop,
		health.GateCooldown: health.GateCooldown, health.GateCritical: health.GateCritical} {
		before := health.Gate{Decision: decision, Reason: "as it is", Look: true}
		if got := before.Beside("pid 7"); got.Decision != want || got.Look || (got.Reason == "a pass is running: pid 7") != (decision == health.GateGo) {
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
		want            health.GateDecision
		wantUntilOffset time.Duration
	}{
		{"honest", at(200 * time.Second), at(-100 * time.Second), "degraded", true, health.GateCooldown, 200 * time.Second},
		{"year 9999, just written", "9999-12-31T23:59:59Z", at(0), "degraded", true, health.GateCooldown, 300 * time.Second},
		{"year 9999, written long ago", "9999-12-31T23:59:59Z", at(-time.Hour), "degraded", true, health.GateGo, 0},
		{"year 9999, written by nobody knows when", "9999-12-31T23:59:59Z", "", "degraded", true, health.GateGo, 0},
		{"clock set back by a day since", at(24*time.Hour + 300*time.Second), at(24 * time.Hour), "degraded", true, health.GateGo, 0},
		{"no cooldown", "", at(0), "degraded", true, health.GateGo, 0},
		{"cooldown that is no time", "soon", at(0), "degraded", true, health.GateGo, 0},
		{"offset of another zone", "2026-02-02T20:19:00+09:00", at(0), "degraded", true, health.GateCooldown, 240 * time.Second},
		{"healthy, written in the future", "", at(time.Hour), "healthy", false, health.GateGo, 0},
		{"healthy, written by nobody knows when", "", "", "healthy", false, health.GateGo, 0},
		{"a word of another program", "", at(0), "so-so", false, health.GateGo, 0},
	} {
		h := health.State{RetryRequired: c.retry, CooldownUntil: c.until, UpdatedAt: c.written, LastHealthStatus: c.status}
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
		h, now, criticals := health.New(healthStart), healthStart, 0
		for range rapid.IntRange(1, 40).Draw(t, "facts") {
			before := h
			now = now.Add(time.Duration(rapid.IntRange(-1000, 5000).Draw(t, "seconds")) * time.Second)
			fact := health.Fact{Kind: rapid.SampledFrom(health.FactKinds).Draw(t, "fact"), ErrorID: "e"}
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
			if gate := h.Gate(0, now); gate.Decision == health.GateCooldown && gate.Until.Sub(now) > health.RepairCooldown {
				t.Fatalf("waits until %s at %s", gate.Until, now)
			}
			if gate := h.Gate(0, now.Add(301*time.Second)); gate.Decision == health.GateCooldown {
				t.Fatalf("still waits after the cooldown: %+v of %+v", gate, h)
			}
		}
	})
}

func TestAReportedErrorBeginsThePassesInARowAnew(t *testing.T) {
	t.Parallel()
	for kind, want := range map[health.FactKind]int{health.FactErrorDetected: 0, health.FactFixFailed: 0, health.FactFixAttempted: 2} {
		h := health.New(healthStart)
		h.Loop.HealthyPasses = 2
		if _, err := h.Record(health.Fact{Kind: kind, ErrorID: "e"}, healthStart); err != nil || h.Loop.HealthyPasses != want {
			t.Errorf("%s leaves %d, %v", kind, h.Loop.HealthyPasses, err)
		}
	}
}

func TestEveryCriticalTimeHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	h, keys := health.New(healthStart), map[string]bool{}
	for i := range 3 {
		for n := range 4 {
			critical, err := h.Record(health.Fact{Kind: health.FactFixFailed}, healthStart.Add(time.Duration(10*i+n)))
			if err != nil || critical != (n == 2) {
				t.Fatalf("failure %d: critical is %t, %v", n+1, critical, err)
			}
		}
		keys[h.CriticalKey()] = true
		if _, err := h.Record(health.Fact{Kind: health.FactHealthy}, healthStart); err != nil || h.CriticalKey() != "" {
			t.Fatalf("healthy, and the key is %q, %v", h.CriticalKey(), err)
		}
	}
	if len(keys) != 3 || keys[""] {
		t.Errorf("the keys are %v", keys)
	}
}

func TestFactsThatSayNothingAreRefusedAndChangeNothing(t *testing.T) {
	t.Parallel()
	for _, fact := range []health.Fact{
		{}, {Kind: "fine"}, {Kind: health.FactErrorDetected}, {Kind: health.FactErrorDetected, ErrorID: "a\nb"},
		{Kind: health.FactErrorDetected, ErrorID: strings.Repeat("x", 201)},
	} {
		h := health.New(healthStart)
		if _, err := h.Record(fact, healthStart.Add(time.Hour)); err == nil || h.UpdatedAt != h.CreatedAt || h.TotalErrorsDetected != 0 {
			t.Errorf("%+v was taken: %+v, %v", fact, h, err)
		}
	}
	h := health.New(healthStart)
	if _, err := h.Record(health.Fact{Kind: health.FactErrorDetected, ErrorID: "e", Summary: strings.Repeat("ä", 5000)}, healthStart); err != nil || len([]rune(h.LastErrorSummary)) != 4000 {
		t.Errorf("a long summary has %d characters, %v", len([]rune(h.LastErrorSummary)), err)
	}
}

func TestHealthThatNoCarefulWriterLeavesIsNotValid(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*health.State){
		"created_at":               func(h *health.State) { h.CreatedAt = "" },
		"updated_at":               func(h *health.State) { h.UpdatedAt = "2026-01-01T00:00:00" },
		"cooldown_until":           func(h *health.State) { h.CooldownUntil = "soon" },
		"last_health_status":       func(h *health.State) { h.LastHealthStatus = "" },
		"run_count":                func(h *health.State) { h.RunCount = -1 },
		"total_fixes_succeeded":    func(h *health.State) { h.TotalFixesSucceeded = 1 },
		"continuous_failure_count": func(h *health.State) { h.ContinuousFailureCount = -1 },
		"retry_required":           func(h *health.State) { h.LastHealthStatus, h.RetryRequired = "critical", true },
	} {
		h := health.New(healthStart)
		spoil(&h)
		if err := h.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
