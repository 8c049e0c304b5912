package commandline

import (
	"testing"
	"time"

	"signalbox/internal/workflow"
)

func TestAParkedRunIsToldInTheTimeOfItsReader(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC)
	run := workflow.Run{Progress: workflow.Progress{Message: "parked until 2026-11-20 23:30:00 UTC: the limit of the model: reached"}}
	if got := Doing(&run); got != run.Progress.Message {
		t.Errorf("of one that is parked no more it says %q", got)
	}
	run.Details.ParkedUntil = &until
	if got, want := Doing(&run), "parked until "+until.Local().Format("2006-01-02 15:04:05")+": the limit of the model: reached"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}
