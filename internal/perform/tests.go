package perform

import (
	"context"
	"errors"

	"signalbox/internal/place"
	"signalbox/internal/workflow"
)

// commandOutputLimit is how much of a command's output its log keeps, in bytes.
const commandOutputLimit = 32 << 20

// runTests runs the project's tests on the last recorded commit (DESIGN decision 3).
func (x *execution) runTests(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	base, prepare := a.Purpose == workflow.BaseTests, x.ready
	if base {
		prepare = x.forBase
	}
	env, err := prepare(ctx, a)
	if err != nil {
		return nil, err
	}
	x.presence.Content, x.presence.TestedAt = "", x.run.Details.Head
	log, path, err := openLog(x.Artifacts, x.Redact, workflow.RefOf(&x.run), logName(string(a.Purpose)+"-tests", x.stepOf(a), max(a.Attempt, 1)))
	if err != nil {
		return nil, err
	}
	commands := shellCommands(a.Commands)
	if a.Purpose == workflow.UnitTests || base {
		commands = testCommands(&x.run.Details.Settings, base, x.Ask)
	}
	if i := len(commands) - len(x.run.Details.Settings.OfRequest); base && i < len(commands) {
		commands[i].before = func() error { return x.keepBefore(ctx, o, env) }
	}
	verdict, err := runCommands(ctx, place.For(&x.run, env), commands, place.Variables(&x.run), seconds(x.run.Details.Settings.Limits.TestTotalSec), base || len(x.run.Details.FailedBefore()) > 0, log)
	if closeErr := log.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	event := workflow.TestsEnded{Outcome: o, Passed: verdict.passed, Commit: x.run.Details.Head, Command: verdict.command,
		LogPath: path, DurationMS: verdict.took.Milliseconds(), Summary: x.clean(verdict.summary), Failures: documented(x.Redact, verdict.failures)}
	if base {
		err = errors.Join(x.remember(ctx, event), x.askedFor(ctx, event.Failures), x.clearTests(ctx, env))
	}
	return event, err
}

// tail keeps the last bytes written to it.
type tail struct {
	limit int
	data  []byte
	cut   bool // earlier bytes were dropped
}

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	t.cut = t.cut || len(t.data) > t.limit
	if len(t.data) > 2*t.limit {
		t.data = append([]byte(nil), t.data[len(t.data)-t.limit:]...)
	}
	return len(p), nil
}

// marked returns the text, after an ellipsis if earlier bytes were dropped.
func (t *tail) marked() string {
	if t.cut {
		return "…" + t.String()
	}
	return t.String()
}

func (t *tail) String() string {
	return string(t.data[max(0, len(t.data)-t.limit):])
}
