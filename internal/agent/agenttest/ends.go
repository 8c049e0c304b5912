package agenttest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
)

// ends checks the results of calls, and what the program is given.
func (h Harness) ends(t *testing.T) {
	t.Run("an answer is returned whole and everything printed is in the log", func(t *testing.T) {
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
	})
	t.Run("the end of the program decides", func(t *testing.T) {
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
	})
	t.Run("only the implementer may say nothing", func(t *testing.T) {
		t.Parallel()
		for _, role := range []string{"planner", "reviewer", "repairer", "implementer"} {
			result, _ := h.run(t, Silent, func(task *agent.Task) { task.Role = role })
			if role != "implementer" {
				CheckFailure(t, result, agent.NoAnswer, "no answer")
			} else if result.Failure != nil {
				t.Errorf("Failure = %+v", *result.Failure)
			}
		}
	})
	t.Run("the prompt arrives whole", func(t *testing.T) {
		t.Parallel()
		result, log := h.run(t, Echoes, nil)
		if result.Failure != nil || result.Answer != Prompt || !logged(log, Prompt) {
			t.Errorf("%d bytes came back of %d, or others: %.200q", len(result.Answer), len(Prompt), result.Answer)
		}
	})
	t.Run("the variables say which call it is", func(t *testing.T) {
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
	})
	t.Run("a missing program is unavailable and named", func(t *testing.T) {
		t.Parallel()
		result, _ := h.run(t, Missing, nil)
		CheckFailure(t, result, agent.Unavailable, MissingProgram)
		if _, err := h.Agent(t, Missing).Check(t.Context()); err == nil || !strings.Contains(err.Error(), MissingProgram) {
			t.Errorf("Check = %v, want it to name %s", err, MissingProgram)
		}
	})
	t.Run("an installed program passes the check", func(t *testing.T) {
		t.Parallel()
		driver := h.Agent(t, Answers)
		if _, err := driver.Check(t.Context()); err != nil || driver.Name() == "" {
			t.Errorf("Check of %q = %v", driver.Name(), err)
		}
	})
}

// limits checks the deadlines and the limit of the output.
func (h Harness) limits(t *testing.T) {
	t.Run("silence ends at the idle deadline", func(t *testing.T) {
		t.Parallel()
		const limit = 300 * time.Millisecond
		result, _ := h.run(t, Hangs, func(task *agent.Task) { task.Idle = limit })
		CheckFailure(t, result, agent.Hung, limit.String())
	})
	// A limit that passed before it chattered proves nothing, and is doubled.
	t.Run("chatter ends at the total deadline", func(t *testing.T) {
		t.Parallel()
		for limit, log := time.Second, ""; log == ""; limit *= 2 {
			var result agent.Result
			result, log = h.run(t, Chatters, func(task *agent.Task) { task.Total = limit })
			CheckFailure(t, result, agent.TimedOut, limit.String())
			if limit > patience {
				t.Fatal("nothing of the chatter is in the log")
			}
		}
	})
	t.Run("a flood is cut at the limit and does not block", func(t *testing.T) {
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
	})
}
