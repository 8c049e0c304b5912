// Package agenttest is the conformance suite of the agent port: everything that Signalbox relies on, whatever program a driver runs. It also replays
// recordings of real programs, and lets a test binary be the program.
package agenttest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
)

// patience is how long a step that takes milliseconds may take, on a machine that is busy with other tests.
const patience = 5 * time.Minute

// Run checks a driver against the port.
func Run(t *testing.T, h Harness) {
	h.ends(t)
	h.limits(t)
	h.children(t)
	if h.Asks {
		h.asking(t)
	}
}

// task returns one call, with every field that reaches the program.
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

// logged reports whether text was printed, as it is or in a line of JSON.
func logged(log, text string) bool {
	quoted, err := json.Marshal(text)
	return strings.Contains(log, text) || err == nil && strings.Contains(log, string(bytes.Trim(quoted, `"`)))
}

// CheckFailure checks that the agent failed for this reason, and that the message is one line that contains word. An empty code wants no failure.
func CheckFailure(t *testing.T, result agent.Result, code agent.FailureCode, word string) {
	t.Helper()
	switch f := result.Failure; {
	case f == nil && code != "":
		t.Errorf("the agent ended well with %q, want %s", result.Answer, code)
	case f != nil && (f.Code != code || !strings.Contains(f.Message, word) || strings.Contains(f.Message, "\n")):
		t.Errorf("Failure = %+v, want %q and a line with %q (process %+v)", *f, code, word, result.Process)
	}
}
