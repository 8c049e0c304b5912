package runner

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

// commandOutputLimit is how much of a command's output is kept in its log, in bytes.
const commandOutputLimit = 32 << 20

// runTests runs the project's tests on the last recorded commit (DESIGN decision 3).
func (w *work) runTests(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	base, prepare := a.Purpose == workflow.BaseTests, w.ready
	if base {
		prepare = w.forBase
	}
	env, err := prepare(ctx, a)
	if err != nil {
		return nil, err
	}
	w.content, w.testedAt = "", w.run.Journey.Head
	log, path, err := w.log(string(a.Purpose)+"-tests", w.stepOf(a), max(a.Attempt, 1))
	if err != nil {
		return nil, err
	}
	commands := shellCommands(a.Commands)
	if a.Purpose == workflow.UnitTests || base {
		commands = testCommands(&w.run.Journey.Settings, base, w.Ask)
	}
	verdict, err := runCommands(ctx, w.activated(env), commands, w.variables(), seconds(w.run.Journey.Settings.Limits.TestTotalSec), base || len(w.run.Journey.FailedBefore()) > 0, log)
	if closeErr := log.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	event := workflow.TestsEnded{Outcome: o, Passed: verdict.passed, Commit: w.run.Journey.Head, Command: verdict.command,
		LogPath: path, DurationMS: verdict.took.Milliseconds(), Summary: w.clean(verdict.summary), Failures: w.told(verdict.failures)}
	if base {
		err = errors.Join(w.remember(ctx, event), w.askedFor(ctx, event.Failures), w.clearTests(ctx, env))
	}
	return event, err
}

// shell lets a project's own one-line command be read by sh. It is one
// argument, never put together from parts.
func shell(command string) []string { return []string{"sh", "-c", command} }

// ending is how a program ended, in words.
func ending(r process.Result) string {
	took := r.Duration.Round(time.Millisecond)
	switch r.Ending {
	case process.TimedOut:
		return fmt.Sprintf("stopped after %s, which is its time limit", took)
	case process.Idled:
		return fmt.Sprintf("stopped after %s without output", took)
	case process.NoMemory:
		return "ended by the kernel: out of memory"
	case process.Stopped:
		return "stopped"
	}
	if r.Signal != "" {
		return fmt.Sprintf("ended by %s after %s", r.Signal, took)
	}
	if name := unix.SignalName(syscall.Signal(r.ExitCode - 128)); r.ExitCode > 128 && name != "" {
		return fmt.Sprintf("exit code %d (%s) after %s", r.ExitCode, name, took) // as shells tell of a signal
	}
	return fmt.Sprintf("exit code %d after %s", r.ExitCode, took)
}

// tail keeps the last bytes written to it.
type tail struct {
	limit int
	data  []byte
	cut   bool // something before them was dropped
}

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	t.cut = t.cut || len(t.data) > t.limit
	if len(t.data) > 2*t.limit {
		t.data = append([]byte(nil), t.data[len(t.data)-t.limit:]...)
	}
	return len(p), nil
}

// marked is the text, beginning with an ellipsis if something before it was dropped.
func (t *tail) marked() string {
	if t.cut {
		return "…" + t.String()
	}
	return t.String()
}

func (t *tail) String() string {
	return string(t.data[max(0, len(t.data)-t.limit):])
}
