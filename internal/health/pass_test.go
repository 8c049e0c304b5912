package health_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"signalbox/internal/health"
	"signalbox/internal/workflow"
)

func newPass(at time.Time) health.Pass {
	return health.Pass{ID: at.Format("150405"), StartedAt: at.Format(time.RFC3339)}
}

var broken = []health.Failure{{Check: "api", ErrorID: "api-1", Summary: "status 500", Severity: workflow.Major}}

// repaired performs a whole pass about the failures, each repair of which ends with outcome.
func repaired(h *health.State, failures []health.Failure, outcome health.RepairOutcome, now time.Time) health.Pass {
	h.Found(newPass(now), failures, now)
	for _, id := range h.ToRepair() {
		h.Attempt(id, "RQ-20260202-001", now)
		h.Judge(health.Repair{ErrorID: id, Run: now.Format("20060102-150405"), Outcome: outcome}, now)
	}
	return h.Finish(5*time.Minute, now)
}

func TestPassesFollowThePublishedPatterns(t *testing.T) {
	t.Parallel()
	h, now := health.New(healthStart), healthStart
	expect := func(what, status string, gate health.GateDecision, retry bool, failures, detected, attempted, succeeded, runs int) {
		t.Helper()
		got := fmt.Sprint(h.LastHealthStatus, h.Gate(5*time.Minute, now).Decision, h.RetryRequired, h.ContinuousFailureCount, h.TotalErrorsDetected, h.TotalFixesAttempted, h.TotalFixesSucceeded, h.RunCount)
		if want := fmt.Sprint(status, gate, retry, failures, detected, attempted, succeeded, runs); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
		if err := h.Validate(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	h.Well(newPass(now), 5*time.Minute, now)
	expect("1: healthy", "healthy", "stop", false, 0, 0, 0, 0, 1)
	now = now.Add(5 * time.Minute)
	expect("the next is due", "healthy", "go", false, 0, 0, 0, 0, 1)
	repaired(&h, broken, health.RepairFixed, now)
	expect("2: repaired", "degraded", "go", false, 0, 1, 1, 1, 2)
	h.Well(newPass(now), 5*time.Minute, now)
	expect("2: verified", "healthy", "stop", false, 0, 1, 1, 1, 3)
	repaired(&h, broken, health.RepairFailed, now)
	expect("3: failed", "degraded", "cooldown", true, 1, 2, 2, 1, 4)
	now = now.Add(health.RepairCooldown)
	expect("3: cooled down", "degraded", "go", true, 1, 2, 2, 1, 4)
	repaired(&h, broken, health.RepairFailed, now)
	expect("3: the same error is detected once", "degraded", "cooldown", true, 2, 2, 3, 1, 5)
	now = now.Add(health.RepairCooldown)
	repaired(&h, broken, health.RepairFailed, now)
	expect("4: critical", "critical", "critical", false, 3, 2, 4, 1, 6)
	now = now.Add(100 * time.Hour)
	if p := repaired(&h, broken, health.RepairFixed, now); len(p.Repairs) != 1 || p.Repairs[0].Outcome != "" || p.Result != health.PassCritical {
		t.Errorf("a critical state is noted, and not repaired: %+v", p)
	}
	expect("4: looked at, not repaired", "critical", "critical", false, 3, 2, 4, 1, 7)
	h.Rearm(now)
	expect("a person acted", "degraded", "go", false, 0, 2, 4, 1, 7)
	repaired(&h, broken, health.RepairFixed, now)
	expect("repaired at last", "degraded", "go", false, 0, 2, 5, 2, 8)
	repaired(&h, broken, health.RepairFixed, now)
	expect("it did not hold: a failure", "degraded", "cooldown", true, 1, 2, 5, 2, 9)
}

// A repair that merges what repairs nothing, over and over.
func TestARepairThatDoesNotHoldFailed(t *testing.T) {
	t.Parallel()
	h, now := health.New(healthStart), healthStart
	for failures := 1; failures <= health.CriticalFailures; failures++ {
		if p := repaired(&h, broken, health.RepairFixed, now); p.Result != health.PassRepaired || h.ContinuousFailureCount != 0 {
			t.Fatalf("%+v after %+v", h, p)
		}
		p := repaired(&h, broken, health.RepairFixed, now)
		if h.ContinuousFailureCount != failures || len(p.Repairs) != 1 || p.Repairs[0].Outcome != health.RepairFailed || p.Repairs[0].Run == "" || h.Loop.Undone != failures ||
			(h.LastHealthStatus == health.Critical) != (failures == health.CriticalFailures) || h.TotalFixesAttempted != failures || h.TotalErrorsDetected != 1 {
			t.Errorf("%d: %+v after %+v", failures, h, p)
		}
		now = now.Add(health.RepairCooldown)
	}
}

// Other findings of the pass wait for the cooldown. A repair that held is forgotten together with the failures before it.
func TestOnlyRepairsThatDidNotHoldCountAgain(t *testing.T) {
	t.Parallel()
	other := health.Failure{Check: "lint", ErrorID: "lint-1", Severity: workflow.Major}
	h, now := health.New(healthStart), healthStart
	repaired(&h, broken, health.RepairFailed, now)
	repaired(&h, append(broken[:1:1], other), health.RepairFixed, now)
	if p := repaired(&h, []health.Failure{other}, health.RepairFixed, now); len(p.Repairs) != 1 || h.ContinuousFailureCount != 2 || h.Error("api-1") != nil {
		t.Errorf("one of two did not hold: %+v after %+v", h, p)
	}
	repaired(&h, []health.Failure{other}, health.RepairFixed, now)
	third := health.Failure{Check: "third", ErrorID: "third-1", Severity: workflow.Major}
	repaired(&h, []health.Failure{third}, health.RepairFixed, now)
	if repaired(&h, []health.Failure{third, other}, health.RepairFixed, now); h.ContinuousFailureCount != 1 || len(h.Loop.Errors) != 2 || h.Error("lint-1").Attempts != 0 {
		t.Errorf("what held counts again: %+v", h)
	}
}

func TestACriticalStateIsLeftAfterThreePassesThatFindNothing(t *testing.T) {
	t.Parallel()
	h, now := health.New(healthStart), healthStart
	for range 3 {
		repaired(&h, broken, health.RepairFailed, now)
	}
	key := h.CriticalKey()
	h.Loop.Request = "RQ-20260202-002"
	h.Well(newPass(now), 0, now)
	h.Well(newPass(now), 0, now)
	h.Found(newPass(now), broken, now)
	h.Finish(0, now)
	if h.Loop.HealthyPasses != 0 || h.CriticalKey() != key {
		t.Fatalf("after a look that found the error: %+v", h.Loop)
	}
	for i := range 3 {
		if got, want := h.ToClose(), []string{"RQ-20260202-001", "RQ-20260202-002"}; (i == 2) != slices.Equal(got, want) || i < 2 && got != nil {
			t.Errorf("pass %d closes %q", i+1, got)
		}
		p := h.Well(newPass(now), 0, now)
		if (p.Result == health.PassHealthy) != (i == 2) || (h.LastHealthStatus == health.Healthy) != (i == 2) {
			t.Errorf("pass %d: %s, %s", i+1, p.Result, h.LastHealthStatus)
		}
	}
	if h.CriticalKey() != "" || len(h.Loop.Errors) != 0 || h.Loop.Request != "" {
		t.Errorf("something is left: %+v", h.Loop)
	}
}

func TestARepairThatWaitsForAPersonIsOneRepairHoweverOftenItIsLookedAt(t *testing.T) {
	t.Parallel()
	h := health.New(healthStart)
	for range 4 {
		if p := repaired(&h, broken, health.RepairWaiting, healthStart); p.Result != health.PassWaiting || h.TotalFixesAttempted != 1 || h.TotalErrorsDetected != 1 {
			t.Fatalf("%+v after %+v", h, p)
		}
	}
	if open := h.ResumeRepairs(newPass(healthStart)); !slices.Equal(open, []string{"api-1"}) {
		t.Fatalf("to be gone on with: %q", open)
	}
	h.Judge(health.Repair{ErrorID: "api-1", Outcome: health.RepairFixed}, healthStart)
	if p := h.Finish(0, healthStart); p.Result != health.PassRepaired || h.TotalFixesSucceeded != 1 || h.TotalFixesAttempted != 1 {
		t.Errorf("%+v after %+v", h, p)
	}
}

func TestErrorsAreRepairedMostSevereFirst(t *testing.T) {
	t.Parallel()
	h := health.New(healthStart)
	h.Found(newPass(healthStart), []health.Failure{{Check: "a", ErrorID: "a", Severity: workflow.Minor}, {Check: "b", ErrorID: "b", Severity: workflow.Major},
		{Check: "c", ErrorID: "c", Severity: workflow.Blocker}, {Check: "d", ErrorID: "d", Severity: workflow.Major}}, healthStart)
	if got := h.ToRepair(); !slices.Equal(got, []string{"c", "b", "d", "a"}) || h.LastErrorID != "c" {
		t.Errorf("%q, last %q", got, h.LastErrorID)
	}
}

// A schedule of five minutes finds every look due, and every repair whose cooldown of five minutes is over.
func TestAScheduleAsLongAsTheCooldownStarvesNeither(t *testing.T) {
	t.Parallel()
	const every = 5 * time.Minute
	h, looks := health.New(healthStart), 0
	for tick := range 12 {
		started := healthStart.Add(time.Duration(tick) * every)
		if h.Gate(every, started).Decision == health.GateGo {
			h.Well(newPass(started), every, started.Add(90*time.Second)) // a pass takes a while
			looks++
		}
	}
	if looks != 12 {
		t.Errorf("%d of 12 looks were due", looks)
	}
}

// Any passes at any times, with a clock that goes back and forward and cut off anywhere: totals only
// grow, no repair is counted twice, and nothing waits longer than it may.
func TestAnyPassesLeaveALegalState(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, now := health.New(healthStart), healthStart
		outcomes := []health.RepairOutcome{health.RepairFixed, health.RepairFailed, health.RepairWaiting, ""}
		for range rapid.IntRange(1, 30).Draw(t, "passes") {
			before := h
			now = now.Add(time.Duration(rapid.IntRange(-100000, 100000).Draw(t, "seconds")) * time.Second)
			var failures []health.Failure
			for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(t, "failing") {
				failures = append(failures, health.Failure{Check: id, ErrorID: id, Summary: id, Severity: workflow.Major})
			}
			settled, cut := h.ResumeRepairs(newPass(now)), false
			if len(failures)+len(settled) == 0 && h.Loop.Pass == nil {
				h.Well(newPass(now), time.Hour, now)
			} else {
				h.Found(newPass(now), failures, now)
				for _, id := range h.ToRepair() {
					if cut = cut || rapid.Bool().Draw(t, "cut off"); cut {
						break
					}
					h.Attempt(id, "RQ", now)
					h.Attempt(id, "RQ", now) // by who went on after a kill
					outcome := rapid.SampledFrom(outcomes).Draw(t, "outcome")
					h.Judge(health.Repair{ErrorID: id, Outcome: outcome}, now)
					h.Judge(health.Repair{ErrorID: id, Outcome: outcome}, now)
				}
				if !cut {
					h.Finish(time.Hour, now)
				}
			}
			if h.TotalErrorsDetected < before.TotalErrorsDetected || h.TotalFixesAttempted < before.TotalFixesAttempted || h.TotalFixesSucceeded < before.TotalFixesSucceeded ||
				h.RunCount < before.RunCount || h.TotalFixesAttempted-before.TotalFixesAttempted > 3 {
				t.Fatalf("from %+v to %+v", before, h)
			}
			if err := h.Validate(); err != nil {
				t.Fatal(err)
			}
			if gate := h.Gate(time.Hour, now); gate.Until.Sub(now) > time.Hour || gate.Decision == health.GateCooldown && gate.Until.Sub(now) > health.RepairCooldown {
				t.Fatalf("waits until %s at %s", gate.Until, now)
			}
		}
	})
}

// A person is called about the error that could not be repaired, not about one found before or beside it.
func TestTheLastErrorIsTheOneWhoseRepairFailedLast(t *testing.T) {
	t.Parallel()
	orders := health.Failure{Check: "orders", ErrorID: "orders-1", Summary: "no order 42", Severity: workflow.Blocker}
	filed := health.Failure{Check: "filed", ErrorID: "filed-1", Summary: "not filed", Severity: workflow.Minor}
	h, now := health.New(healthStart), healthStart
	called := func(when string, want health.Failure) {
		t.Helper()
		if h.LastErrorID != want.ErrorID || h.LastErrorSummary != want.Summary {
			t.Errorf("%s it names %s %q, want %s", when, h.LastErrorID, h.LastErrorSummary, want.ErrorID)
		}
	}
	pass := func(outcomes map[string]health.RepairOutcome, failures ...health.Failure) {
		now = now.Add(health.RepairCooldown)
		h.Found(newPass(now), failures, now)
		for _, id := range h.ToRepair() {
			h.Attempt(id, "RQ-20260202-001", now)
			h.Judge(health.Repair{ErrorID: id, Run: now.Format("20060102-150405"), Outcome: outcomes[id]}, now)
		}
		h.Finish(5*time.Minute, now)
	}
	pass(map[string]health.RepairOutcome{"orders-1": health.RepairFixed, "filed-1": health.RepairFailed}, orders, filed)
	called("after one repair of two failed", filed)
	pass(map[string]health.RepairOutcome{"filed-1": health.RepairFixed}, filed)
	pass(nil, orders, filed) // which did not hold
	called("when a repair did not hold", filed)
	pass(map[string]health.RepairOutcome{"orders-1": health.RepairFixed, "filed-1": health.RepairFailed}, orders, filed)
	if h.LastHealthStatus != health.Critical {
		t.Fatalf("the state is %s", h.LastHealthStatus)
	}
	other := health.Failure{Check: "other", ErrorID: "other-1", Summary: "no other", Severity: workflow.Blocker}
	pass(nil, other, filed)
	called("in a critical state in which more fails", filed)
	pass(nil, other)
	called("in a critical state in which only another fails", other)
}

func TestASummaryThatIsCutKeepsItsBeginningAndItsEnd(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("all is tidy\n", 1000)
	for name, c := range map[string]struct{ said, begins, ends string }{
		"an answer and a log": {"status 500, want 200\nno table\n" + long + "no disk", "status 500, want 200\nno table\nall is tidy\n", "\nall is tidy\nno disk"},
		"cut before":          {"exit code 1:\n" + health.LeftOut + "\n" + long + "no disk", "exit code 1:\n" + health.LeftOut + "\nall is tidy\n", "all is tidy\nno disk"},
		"one line":            {strings.Repeat("ä", 9000) + "ö", "ää", "äö"},
		"a long last line":    {"exit code 1:\n" + long + strings.Repeat("ä", 2900) + "\nö", "exit code 1:\nall", "ä\nö"},
	} {
		h := health.New(healthStart)
		h.Found(newPass(healthStart), []health.Failure{{Check: "a", ErrorID: "a-1", Summary: c.said}}, healthStart)
		got := h.LastErrorSummary
		if n := len([]rune(got)); n > 4000 || n < 3900 || !strings.HasPrefix(got, c.begins) || !strings.HasSuffix(got, c.ends) || strings.Count(got, health.LeftOut) != 1 {
			t.Errorf("%s: %d characters, %.80q … %q", name, n, got, got[len(got)-40:])
		}
	}
}

func TestALineAboutARepairTellsTheLinesOfItsErrorApart(t *testing.T) {
	t.Parallel()
	h := health.New(healthStart)
	h.Found(newPass(healthStart), []health.Failure{{Check: "a", ErrorID: "a-1", Summary: "exit code 1:\nno order\n\n  no bill\n"}}, healthStart)
	if got := h.Loop.Pass.Repairs[0].Summary; got != "exit code 1: no order · no bill" {
		t.Errorf("%q", got)
	}
}
