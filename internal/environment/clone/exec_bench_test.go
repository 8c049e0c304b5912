package clone_test

import (
	"testing"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/egress"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/process"
)

// maxExec is the longest start of a command in a sandbox, as a multiple of one without. maxEntered is for users who can't make
// namespaces: with the network of registries our own program starts before the command.
const (
	maxExec    = 8
	maxEntered = 12
)

// BenchmarkExec compares starting a command with starting it without a sandbox, in turns. The fastest of each counts, because
// other processes slow the rest.
func BenchmarkExec(b *testing.B) {
	ways := []struct {
		name   string
		most   float64
		change func(*clone.Config)
	}{
		{"plain", maxExec, func(c *clone.Config) { c.Unsandboxed = true }},
		{"full", maxExec, func(*clone.Config) {}},
		{"none", maxExec, func(c *clone.Config) { c.Network = egress.None }},
		{"registries", maxExec, func(c *clone.Config) { c.Network = egress.Registries }},
		{"registries-lent", maxExec, func(c *clone.Config) { c.Network = egress.Registries; c.Lend() }},
		{"registries-entered", maxEntered, func(c *clone.Config) { c.Network = egress.Registries; c.Enter() }},
		{"private", maxExec, func(c *clone.Config) { c.Warm, c.Cache = clone.Private, 1<<30 }},
		{"private-registries", maxExec, func(c *clone.Config) { c.Warm, c.Cache, c.Network = clone.Private, 1<<30, egress.Registries; c.Lend() }},
		{"full-limited", maxExec, func(c *clone.Config) { c.Limits = process.Limits{Memory: 1 << 30, CPUs: 2, Processes: 500} }},
	}
	environments, fastest := make([]environment.Environment, len(ways)), make([]time.Duration, len(ways))
	for i, way := range ways {
		p := environmenttest.NewProject(b)
		c := config(b, p)
		way.change(&c)
		d := clone.New(c)
		environments[i] = made(b, d, p)
		if c.Warm == clone.Private {
			environments[i], _ = kept(b, d, p)
		}
	}
	turns := 0
	for ; b.Loop(); turns++ {
		for i, e := range environments {
			begun := time.Now()
			if r, err := e.Exec(b.Context(), process.Command{Args: []string{"true"}}); err != nil || !r.OK() {
				b.Fatal(r, err)
			}
			if took := time.Since(begun); fastest[i] == 0 || took < fastest[i] {
				fastest[i] = took
			}
		}
	}
	for i, way := range ways {
		ratio := float64(fastest[i]) / float64(fastest[0])
		b.ReportMetric(ratio, way.name+"-x-plain")
		if turns >= 50 && ratio > way.most {
			b.Errorf("%s takes %.1f times as long as plain, want at most %g", way.name, ratio, way.most)
		}
	}
	b.ReportMetric(float64(fastest[0].Microseconds()), "us/plain")
}
