package run

import (
	"strings"
	"testing"

	"signalbox/internal/app"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// An order that the process of the run takes is obeyed. It must not read as refused.
func TestAnOrderThatAnotherProcessTakesIsSaidToBeObeyed(t *testing.T) {
	t.Parallel()
	waiting := workflow.Run{Details: workflow.Details{Number: 3, Phase: workflow.CIWatch}}
	for verb, want := range map[string]string{"approve": "approve: told the process that runs 3 (pid 7 ", "resume": "looking now: told the process that runs 3 (pid 7 "} {
		if said := told(verb, &app.Ordered{Taken: &store.LockRecord{PID: 7}, Run: waiting}); !strings.HasPrefix(said, want) {
			t.Errorf("%s says %q", verb, said)
		}
	}
}
