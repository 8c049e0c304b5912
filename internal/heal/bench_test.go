package heal_test

import (
	"fmt"
	"testing"
	"time"

	"signalbox/internal/health"
	"signalbox/internal/workflow"
)

// A pass over 50 checks that pass, the slowest of which takes a second: how much longer the pass takes,
// as slowest-ratio. No run starts, so no model is called.
func BenchmarkFiftyHealthyChecks(b *testing.B) {
	dir := b.TempDir()
	initialize(b, dir)
	checks := []workflow.HealthCheck{command("slowest", "sleep 1")}
	for i := range 49 {
		checks = append(checks, command(fmt.Sprintf("c%d", i), "true"))
	}
	s, err := openSite(b.Context(), dir, checks...)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.store.Close() }()
	var ratio float64
	for b.Loop() {
		started := time.Now()
		report, err := s.config.Pass(b.Context())
		if err != nil || report.Result != health.PassHealthy {
			b.Fatalf("%s, %v", report.Result, err)
		}
		ratio += time.Since(started).Seconds()
	}
	b.ReportMetric(ratio/float64(b.N), "slowest-ratio")
	b.ReportMetric(float64(len(s.runs)), "runs")
}
