// Package agenttest is the conformance suite of the agent port: what the runner
// relies on, whatever program a driver runs.
package agenttest

import (
	"bytes"
	"testing"
	"time"

	"signalbox/internal/agent"
)

// patience is for a step that takes milliseconds, on a machine that is busy with other tests.
const patience = 5 * time.Minute

// Run holds a driver against the port.
func Run(t *testing.T, h Harness) {
	t.Run("an answer is returned whole and everything printed is in the log", h.answers)
	t.Run("the end of the program decides", h.ends)
	t.Run("only the implementer may say nothing", h.silent)
	t.Run("silence ends at the idle deadline", h.idle)
	t.Run("chatter ends at the total deadline", h.total)
	t.Run("a flood is cut at the limit and does not block", h.floods)
	t.Run("the prompt arrives whole", h.prompt)
	t.Run("the variables say which call it is", h.variables)
	t.Run("what a program leaves running is gone when it ended", h.leaves)
	t.Run("a canceled context ends the agent and all it started", h.cancels)
	t.Run("a context canceled before is not run", h.canceledBefore)
	t.Run("a missing program is unavailable and named", h.missing)
	t.Run("a program that is there passes the check", h.check)
	if h.Asks {
		t.Run("what it asks is answered in its order, and shown without what hides", h.asks)
		t.Run("nobody to ask is a denial", h.asksNobody)
		t.Run("waiting for an answer is no silence, and what comes after is", h.waits)
		t.Run("nor is it work, and what comes after is", h.waitsOnNobodysTime)
		t.Run("a question ends with who asked it", h.asksAndDies)
		t.Run("a canceled context ends the question and the agent", h.asksAndIsCanceled)
		t.Run("an answer that cannot be given ends the call", h.asksInVain)
	}
}

func (h Harness) task(t *testing.T, log *bytes.Buffer) agent.Task {
	return agent.Task{
		Key: "7-call_agent", Role: "reviewer", Prompt: Prompt, Dir: h.Dir(t), Log: log,
		StepID: "S02", Attempt: 3, Round: 1, Total: patience, OutputLimit: 64 << 20,
		Env: []string{"SIGNALBOX_RUN_ID=20261120-000000-ab"},
	}
}

// run runs the behavior with the suite's task after change, and fails the test on an error.
func (h Harness) run(t *testing.T, b Behavior, change func(*agent.Task)) (agent.Result, string) {
	t.Helper()
	var log bytes.Buffer
	task := h.task(t, &log)
	if change != nil {
		change(&task)
	}
	result, err := h.Agent(t, b).Run(t.Context(), task, h.Exec)
	if err != nil {
		t.Fatalf("Run: %v\n%s", err, log.String())
	}
	return result, log.String()
}
