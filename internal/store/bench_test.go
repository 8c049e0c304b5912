package store

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/machine"
)

// BenchmarkTransition measures a transition, which is Decide and a save, beside
// the least that a durable update of 4 KB costs by rename, turn by turn, because
// the cost of a flush drifts. x-floor is the ratio of their medians; 1.3 is what
// a transition may cost.
func BenchmarkTransition(b *testing.B) {
	s, err := Open(b.Context(), Config{Root: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	run := benchmarkRun()
	if err := s.CreateRun(b.Context(), &run); err != nil {
		b.Fatal(err)
	}
	w, run, err := s.OpenRun(b.Context(), testRef)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	floor := newFloor(b, 4096)
	var floors, decisions, transitions []time.Duration
	for b.Loop() {
		start := time.Now()
		floor()
		floored := time.Now()
		next, pending := machine.Decide(run, benchmarkEvent(run), testStart)
		decided := time.Now()
		if err := w.Save(b.Context(), &next, "Benchmark"); err != nil {
			b.Fatal(err)
		}
		floors, decisions = append(floors, floored.Sub(start)), append(decisions, decided.Sub(floored))
		transitions = append(transitions, time.Since(floored))
		if next.Details.Transition == run.Details.Transition || len(pending) == 0 {
			b.Fatalf("nothing was decided on %+v", run.Details.Pending)
		}
		run = next
	}
	b.ReportMetric(float64(w.(*RunWriter).at.size), "bytes")
	b.ReportMetric(float64(median(transitions))/float64(median(floors)), "x-floor")
	b.ReportMetric(float64(median(transitions).Microseconds()), "transition-µs")
	b.ReportMetric(float64(median(decisions).Microseconds()), "decide-µs")
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// benchmarkRun has an agent at work, and is stage.json of a usual size.
func benchmarkRun() workflow.Run {
	limits := workflow.DefaultLimits()
	limits.AgentRetries = math.MaxInt
	run := workflow.New(workflow.Start{RequestID: testRef.RequestID, RunID: testRef.RunID, Number: 1, Title: "Add a button",
		RequestPath: "requests/RQ-1.md", Branch: "signalbox/1-add-a-button", Base: "main",
		Settings: workflow.Settings{Workflow: workflow.WorkflowSimple, Tests: []string{"go test ./..."}, Limits: limits}}, testStart)
	run, _ = machine.Decide(run, workflow.Admitted{Epoch: 1}, testStart)
	for run.Details.Pending[0].Kind != workflow.CallAgent {
		run, _ = machine.Decide(run, benchmarkEvent(run), testStart)
	}
	return run
}

// benchmarkEvent is the outcome of what is pending. The agent fails each time
// and is called again, so that there is no last transition.
func benchmarkEvent(run workflow.Run) workflow.Event {
	o := workflow.Outcome{Key: run.Details.Pending[0].Key}
	switch run.Details.Pending[0].Kind {
	case workflow.CheckDependencies:
		return workflow.DependenciesChecked{Outcome: o}
	case workflow.CreateBranch:
		return workflow.BranchCreated{Outcome: o, BaseCommit: "0123456789012345678901234567890123456789"}
	case workflow.DetectEnvironment:
		return workflow.EnvironmentDetected{Outcome: o}
	case workflow.CreateEnvironment:
		return workflow.EnvironmentCreated{Outcome: o, EnvID: "issue-1", Path: ".worktrees/issue-1-add-a-button", Isolation: "bubblewrap"}
	}
	return workflow.AgentFailed{Outcome: o, Code: "AGENT_FAILED", Message: "exit code 1", LogPath: "runs/RQ-1/log"}
}

// newFloor is the least that a durable replacement of size bytes costs by rename.
func newFloor(b *testing.B, size int) func() {
	dir := b.TempDir()
	folder, err := os.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = folder.Close() })
	data := bytes.Repeat([]byte("x"), size)
	temp, name := filepath.Join(dir, "temp"), filepath.Join(dir, "name")
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	return func() {
		file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		check(err)
		_, err = file.Write(data)
		check(err)
		check(file.Sync())
		check(os.Rename(temp, name))
		check(folder.Sync())
		check(file.Close())
	}
}
