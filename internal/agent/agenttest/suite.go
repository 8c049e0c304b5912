// Package agenttest is the conformance suite of the agent port: what the runner
// relies on, whatever program a driver runs.
package agenttest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/agent"
)

// patience is for a step that takes milliseconds, on a machine that is busy with other tests.
const patience = 30 * time.Second

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
		if !strings.Contains(log, WorkLine) || !strings.Contains(log, AnswerText) {
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
	fails(t, failed, agent.Crashed, FailLine)
	if failed.Process.ExitCode != 1 || !strings.Contains(log, FailLine) {
		t.Errorf("exit code %d, log %q", failed.Process.ExitCode, log)
	}
	killed, _ := h.run(t, Killed, nil)
	fails(t, killed, agent.Crashed, "")
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
			fails(t, result, agent.NoAnswer, "no answer")
		} else if result.Failure != nil {
			t.Errorf("Failure = %+v", *result.Failure)
		}
	}
}

func (h Harness) idle(t *testing.T) {
	t.Parallel()
	const limit = 300 * time.Millisecond
	result, _ := h.run(t, Hangs, func(task *agent.Task) { task.Idle = limit })
	fails(t, result, agent.Hung, limit.String())
}

func (h Harness) total(t *testing.T) {
	t.Parallel()
	const limit = 1500 * time.Millisecond
	result, log := h.run(t, Chatters, func(task *agent.Task) { task.Total = limit })
	fails(t, result, agent.TimedOut, limit.String())
	if log == "" {
		t.Error("nothing of the chatter is in the log")
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
	if !result.Process.Truncated || len(log) != limit {
		t.Errorf("Truncated %v with %d bytes in the log, want %d", result.Process.Truncated, len(log), limit)
	}
	if len(result.Answer) > agent.MaxAnswer {
		t.Errorf("the answer has %d bytes, more than %d", len(result.Answer), agent.MaxAnswer)
	}
}

func (h Harness) prompt(t *testing.T) {
	t.Parallel()
	result, log := h.run(t, Echoes, nil)
	if result.Failure != nil || result.Answer != Prompt || !strings.Contains(log, Prompt) {
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

func (h Harness) leaves(t *testing.T) {
	t.Parallel()
	var daemon *os.File
	result, log := h.run(t, Leaves, func(task *agent.Task) { daemon = listen(t, task.Dir) })
	if result.Failure != nil || !strings.Contains(log, DaemonLine) {
		t.Fatalf("Failure = %+v, log %q", result.Failure, log)
	}
	gone(t, daemon)
}

func (h Harness) cancels(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log bytes.Buffer
	task := h.task(t, &log)
	var stopped time.Time
	task.Log = writer(func(p []byte) (int, error) {
		n, err := log.Write(p)
		if stopped.IsZero() && strings.Contains(log.String(), DaemonLine) {
			stopped = time.Now()
			cancel()
		}
		return n, err
	})
	daemon := listen(t, task.Dir)
	_, err := h.Agent(t, Stays).Run(ctx, task, h.Exec)
	if !errors.Is(err, context.Canceled) || stopped.IsZero() {
		t.Fatalf("Run = %v, want %v; log %q", err, context.Canceled, log.String())
	}
	t.Logf("stopped after %s", time.Since(stopped).Round(time.Millisecond))
	gone(t, daemon)
}

func (h Harness) canceledBefore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var log bytes.Buffer
	_, err := h.Agent(t, Answers).Run(ctx, h.task(t, &log), h.Exec)
	if !errors.Is(err, context.Canceled) || log.Len() > 0 {
		t.Errorf("Run = %v, want %v; log %q", err, context.Canceled, log.String())
	}
}

func (h Harness) missing(t *testing.T) {
	t.Parallel()
	result, _ := h.run(t, Missing, nil)
	fails(t, result, agent.Unavailable, MissingProgram)
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

// fails checks that the agent failed for this reason and that the message, one line, holds word.
func fails(t *testing.T, result agent.Result, code agent.FailureCode, word string) {
	t.Helper()
	if result.Failure == nil {
		t.Errorf("the agent ended well with %q, want %s", result.Answer, code)
		return
	}
	got := *result.Failure
	if got.Code != code || !strings.Contains(got.Message, word) || strings.Contains(got.Message, "\n") {
		t.Errorf("Failure = %+v, want %s and a line with %q (process %+v)", got, code, word, result.Process)
	}
}

// listen makes the FIFO that a daemon of Daemon holds open.
func listen(t *testing.T, dir string) *os.File {
	t.Helper()
	path := filepath.Join(dir, DaemonFIFO)
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	fifo, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fifo.Close() })
	return fifo
}

// gone checks that nobody holds the FIFO open any more, which is its end of
// file. Run has returned, so there is nothing to wait for but a busy machine.
func gone(t *testing.T, fifo *os.File) {
	t.Helper()
	if err := fifo.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := fifo.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a process of the agent is still there (read %d bytes, %v)", n, err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
