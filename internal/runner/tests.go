package runner

import (
	"context"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// commandOutputLimit is how much of a command's output is kept in its log, in bytes.
const commandOutputLimit = 32 << 20

// runTests runs the project's tests on the last recorded commit (DESIGN decision 3).
func (w *work) runTests(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	env, err := w.ready(ctx, a)
	if err != nil {
		return nil, err
	}
	log, path, err := w.log(string(a.Purpose)+"-tests", w.stepOf(a), max(a.Attempt, 1))
	if err != nil {
		return nil, err
	}
	commands := shellCommands(a.Commands)
	if service := w.run.Journey.Settings.Service(); service != nil && a.Purpose != workflow.StressTests {
		commands = append(commands, command{service.Title(), w.Ask(*service)})
	}
	verdict, err := runCommands(ctx, w.activated(env), commands, w.variables(), seconds(w.run.Journey.Settings.Limits.TestTotalSec), log)
	if closeErr := log.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	return workflow.TestsEnded{Outcome: o, Passed: verdict.passed, Commit: w.run.Journey.Head, Command: verdict.command,
		LogPath: path, DurationMS: verdict.took.Milliseconds(), Summary: w.clean(verdict.summary)}, nil
}

// verdict is what running commands came to.
type verdict struct {
	passed bool
	// unsettled: a command did not end by itself but ran out of time or memory.
	unsettled bool
	command   string
	took      time.Duration
	summary   string // of the failure
}

// command is a test with its name for people.
type command struct {
	name string
	process.Command
}

func shellCommands(lines []string) (commands []command) {
	for _, line := range lines {
		commands = append(commands, command{line, process.Command{Args: shell(line)}})
	}
	return commands
}

// runCommands runs commands one after the other until one fails.
func runCommands(ctx context.Context, env environment.Environment, commands []command, variables []string, total time.Duration, log io.Writer) (verdict, error) {
	v := verdict{passed: true}
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
	}
	v.command = strings.Join(names, " && ")
	for _, c := range commands {
		out := &tail{limit: 8 << 10}
		_, _ = fmt.Fprintf(log, "$ %s\n", c.name)
		both := io.MultiWriter(log, out)
		c.Env, c.Stdout, c.Stderr, c.Total, c.OutputLimit = variables, both, both, total, commandOutputLimit
		result, err := env.Exec(ctx, c.Command)
		if err == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return v, fmt.Errorf("run %q: %w", c.name, err)
		}
		v.took += result.Duration
		_, _ = fmt.Fprintf(log, "\n[%s]\n", ending(result))
		if !result.OK() {
			v.passed, v.unsettled = false, result.Ending != process.Exited
			v.summary = fmt.Sprintf("%s: %s\n%s", redact.Line(c.name, 200), ending(result), out)
			return v, nil
		}
	}
	return v, nil
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
}

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if len(t.data) > 2*t.limit {
		t.data = append([]byte(nil), t.data[len(t.data)-t.limit:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	return string(t.data[max(0, len(t.data)-t.limit):])
}
