package process_test

import (
	"testing"

	"signalbox/internal/process"
)

func BenchmarkRunTrue(b *testing.B) {
	for b.Loop() {
		if r, err := process.Run(b.Context(), process.Command{Args: []string{"/bin/true"}}); err != nil || !r.OK() {
			b.Fatal(r, err)
		}
	}
}

func BenchmarkSweep(b *testing.B) {
	for b.Loop() {
		if _, err := process.Sweep(b.Context(), "SIGNALBOX_RUN_ID=nobody"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRunTrueLimited(b *testing.B) {
	for b.Loop() {
		c := process.Command{Args: []string{"/bin/true"}, Limits: process.Limits{Memory: 1 << 30, CPUs: 2, Processes: 500}}
		if r, err := process.Run(b.Context(), c); err != nil || !r.OK() {
			b.Fatal(r, err)
		}
	}
}
