package agenttest

import (
	"testing"
	"time"

	"signalbox/internal/agent"
)

func (h Harness) idle(t *testing.T) {
	t.Parallel()
	const limit = 300 * time.Millisecond
	result, _ := h.run(t, Hangs, func(task *agent.Task) { task.Idle = limit })
	CheckFailure(t, result, agent.Hung, limit.String())
}

// A limit that passed before it chattered proves nothing, and is doubled.
func (h Harness) total(t *testing.T) {
	t.Parallel()
	for limit, log := time.Second, ""; log == ""; limit *= 2 {
		var result agent.Result
		result, log = h.run(t, Chatters, func(task *agent.Task) { task.Total = limit })
		CheckFailure(t, result, agent.TimedOut, limit.String())
		if limit > patience {
			t.Fatal("nothing of the chatter is in the log")
		}
	}
}

func (h Harness) floods(t *testing.T) {
	t.Parallel()
	const limit = 3 << 20
	began := time.Now()
	result, log := h.run(t, Floods, func(task *agent.Task) { task.OutputLimit = limit })
	t.Logf("%d MiB took %s", FloodBytes>>20, time.Since(began).Round(time.Millisecond))
	if result.Failure != nil {
		t.Errorf("Failure = %+v", *result.Failure)
	}
	// A protocol is cut between two lines.
	if missing := limit - len(log); !result.Process.Truncated || missing < 0 || missing >= len(floodLine) {
		t.Errorf("Truncated %v with %d bytes in the log, want %d", result.Process.Truncated, len(log), limit)
	}
	if len(result.Answer) > agent.MaxAnswer {
		t.Errorf("the answer has %d bytes, more than %d", len(result.Answer), agent.MaxAnswer)
	}
}
