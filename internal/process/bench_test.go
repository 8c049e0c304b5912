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
