package agenttest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
)

func (h Harness) answers(t *testing.T) {
	t.Parallel()
	for _, behavior := range []Behavior{Answers, Deaf} {
		result, log := h.run(t, behavior, nil)
		if result.Failure != nil {
			t.Fatalf("Failure = %+v, log %q", *result.Failure, log)
		}
		if got, err := agent.JSON(result.Answer); err != nil || string(got) != AnswerText {
			t.Errorf("answer %q holds %q, %v; want %q", result.Answer, got, err, AnswerText)
		}
		if !logged(log, WorkLine) || !logged(log, AnswerText) {
			t.Errorf("log %q lacks what was printed", log)
		}
		if end := result.Process; !end.OK() || end.Started.IsZero() || end.Duration <= 0 {
			t.Errorf("Process = %+v", end)
		}
	}
}

func (h Harness) ends(t *testing.T) {
	t.Parallel()
	failed, log := h.run(t, Fails, nil)
	CheckFailure(t, failed, agent.Crashed, FailLine)
	if failed.Process.ExitCode != 1 || !strings.Contains(log, FailLine) {
		t.Errorf("exit code %d, log %q", failed.Process.ExitCode, log)
	}
	killed, _ := h.run(t, Killed, nil)
	CheckFailure(t, killed, agent.Crashed, "")
	// A sandbox's own leader passes a signal on as a shell does.
	if end := killed.Process; end.Signal != "SIGKILL" && end.ExitCode != 128+9 {
		t.Errorf("Process = %+v, want SIGKILL", end)
	}
}

func (h Harness) silent(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"planner", "reviewer", "repairer", "implementer"} {
		result, _ := h.run(t, Silent, func(task *agent.Task) { task.Role = role })
		if role != "implementer" {
			CheckFailure(t, result, agent.NoAnswer, "no answer")
		} else if result.Failure != nil {
			t.Errorf("Failure = %+v", *result.Failure)
		}
	}
}

func (h Harness) missing(t *testing.T) {
	t.Parallel()
	result, _ := h.run(t, Missing, nil)
	CheckFailure(t, result, agent.Unavailable, MissingProgram)
	if _, err := h.Agent(t, Missing).Check(t.Context()); err == nil || !strings.Contains(err.Error(), MissingProgram) {
		t.Errorf("Check = %v, want it to name %s", err, MissingProgram)
	}
}

func (h Harness) check(t *testing.T) {
	t.Parallel()
	driver := h.Agent(t, Answers)
	if _, err := driver.Check(t.Context()); err != nil || driver.Name() == "" {
		t.Errorf("Check of %q = %v", driver.Name(), err)
	}
}

// logged reports whether text was printed, as it is or in a line of JSON.
func logged(log, text string) bool {
	quoted, err := json.Marshal(text)
	return strings.Contains(log, text) || err == nil && strings.Contains(log, string(bytes.Trim(quoted, `"`)))
}

// CheckFailure checks that the agent failed for this reason and that the message, one line, holds word; no
// code wants no failure.
func CheckFailure(t *testing.T, result agent.Result, code agent.FailureCode, word string) {
	t.Helper()
	switch f := result.Failure; {
	case f == nil && code != "":
		t.Errorf("the agent ended well with %q, want %s", result.Answer, code)
	case f != nil && (f.Code != code || !strings.Contains(f.Message, word) || strings.Contains(f.Message, "\n")):
		t.Errorf("Failure = %+v, want %q and a line with %q (process %+v)", *f, code, word, result.Process)
	}
}

func (h Harness) prompt(t *testing.T) {
	t.Parallel()
	result, log := h.run(t, Echoes, nil)
	if result.Failure != nil || result.Answer != Prompt || !logged(log, Prompt) {
		t.Errorf("%d bytes came back of %d, or others: %.200q", len(result.Answer), len(Prompt), result.Answer)
	}
}

func (h Harness) variables(t *testing.T) {
	t.Parallel()
	result, _ := h.run(t, Tells, nil)
	told := strings.Split(result.Answer, "\n")
	for _, want := range []string{
		"SIGNALBOX_ROLE=reviewer", "SIGNALBOX_KEY=7-call_agent", "SIGNALBOX_STEP=S02",
		"SIGNALBOX_ATTEMPT=3", "SIGNALBOX_ROUND=1", "SIGNALBOX_RUN_ID=20261120-000000-ab",
	} {
		if !slices.Contains(told, want) {
			t.Errorf("%q is not among %q", want, told)
		}
	}
}
