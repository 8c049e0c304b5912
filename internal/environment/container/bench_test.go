package container_test

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"signalbox/internal/environment/container"
	"signalbox/internal/environment/container/containertest"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/process"
)

// plain runs a program with nothing around it.
type plain struct{}

func (plain) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Env = c.Env
	return process.Result{Ending: process.Exited}, cmd.Run()
}

// Compares starting a command in a ready container with starting it here, through our own rules and plainly, in turns. The fastest of each counts,
// because everything above that is other processes' load.
func BenchmarkStart(b *testing.B) {
	docker, p := containertest.New(b), environmenttest.NewProject(b)
	e := made(b, container.New(config(b, docker, p)), p.Spec("site"))
	executors := []process.Executor{process.Host{}, e, plain{}}
	fastest := make([]time.Duration, len(executors))
	turns := 0
	for b.Loop() {
		for i, executor := range executors {
			start := time.Now()
			r, err := executor.Exec(b.Context(), process.Command{Args: []string{"true"}, Env: []string{"PATH=/usr/bin:/bin"}})
			if err != nil || !r.OK() {
				b.Fatal(r, err)
			}
			if took := time.Since(start); fastest[i] == 0 || took < fastest[i] {
				fastest[i] = took
			}
		}
		turns++
	}
	ratio := float64(fastest[1]) / float64(fastest[0])
	b.ReportMetric(float64(fastest[1].Microseconds()), "us/command")
	b.ReportMetric(ratio, "x-host")
	b.ReportMetric(float64(fastest[1])/float64(fastest[2]), "x-plain")
	if turns >= 50 && ratio > 2 {
		b.Errorf("a command takes %.1f times as long as here, want at most 2", ratio)
	}
}
