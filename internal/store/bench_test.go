package store

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"signalbox/internal/workflow"
)

// BenchmarkTransition measures a save beside the least that a durable update of
// 4 KB costs by rename, turn by turn, because the cost of a flush drifts.
// x-floor is the ratio of their medians; 1.3 is what a transition may cost.
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
	floor := newFloor(b)
	var floors, saves []time.Duration
	for b.Loop() {
		start := time.Now()
		floor()
		middle := time.Now()
		run.Journey.Transition++
		run.Progress.Percent = run.Journey.Transition % 100
		if err := w.Save(b.Context(), &run, Transition{Event: "Benchmark"}); err != nil {
			b.Fatal(err)
		}
		floors, saves = append(floors, middle.Sub(start)), append(saves, time.Since(middle))
	}
	b.ReportMetric(float64(w.at.size), "bytes")
	b.ReportMetric(float64(median(saves))/float64(median(floors)), "x-floor")
	b.ReportMetric(float64(median(saves).Microseconds()), "save-µs")
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// benchmarkRun fills about 4 KB.
func benchmarkRun() workflow.Run {
	run := newRun()
	run.State = workflow.Running
	run.Steps = []workflow.Step{{StepID: "S01", Title: "Write the failing test", Role: workflow.Implementer, Status: workflow.StepDone, Attempt: 1}}
	run.Journey.Pending = []workflow.Action{{Key: "a-7", Kind: workflow.CallAgent, Role: workflow.Implementer, StepID: "S02"}}
	return run
}

func newFloor(b *testing.B) func() {
	dir := b.TempDir()
	folder, err := os.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = folder.Close() })
	data := bytes.Repeat([]byte("x"), 4096)
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
