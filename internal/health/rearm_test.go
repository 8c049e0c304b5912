package health_test

import (
	"slices"
	"testing"
	"time"

	"signalbox/internal/health"
)

// A person may report the project healthy, or allow repairs, while an error is still open. Then the next look is due.
func TestAPersonsWordBeginsRepairsAgainAndMakesNothingHealthy(t *testing.T) {
	t.Parallel()
	for _, kind := range []health.FactKind{health.FactHealthy, health.FactRearmed} {
		h := health.New(healthStart)
		h.LastHealthStatus, h.ContinuousFailureCount = health.Critical, 3
		h.Loop.CriticalSince, h.Loop.Request = healthStart.Format(time.RFC3339), "RQ-2"
		h.Loop.Errors = []health.Error{{ID: "tests-1", Check: "tests", Times: 1, Request: "RQ-1", Attempts: 3}}
		if _, err := h.Record(health.Fact{Kind: kind}, healthStart); err != nil {
			t.Fatal(err)
		}
		if gate := h.Gate(time.Hour, healthStart); gate.Decision != health.GateGo || h.LastHealthStatus != health.Degraded || len(h.Loop.Errors) != 1 {
			t.Errorf("%s: %+v after %+v", kind, gate, h)
		}
		h.Loop.HealthyPasses = health.HealthyPasses - 1
		if closed := h.ToClose(); !slices.Equal(closed, []string{"RQ-1", "RQ-2"}) {
			t.Errorf("%s: closes %q", kind, closed)
		}
	}
}
