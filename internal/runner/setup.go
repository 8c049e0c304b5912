package runner

import (
	"context"
	"fmt"
	"io"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// runSetUp runs one set-up command, or one verification, whose standard output
// must then be exactly what is expected, one trailing newline apart (P5).
func (w *work) runSetUp(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	env, err := w.environment(ctx)
	if err != nil {
		return nil, err
	}
	log, path, err := w.log("setup", "command", a.Attempt)
	if err != nil {
		return nil, err
	}
	command := a.Commands[0]
	w.content = ""
	stdout, both, shown := &tail{limit: 64 << 10}, &tail{limit: environment.OutputTail}, &tail{limit: 8 << 10}
	args := environment.SetUpLine(command)
	if a.Expected != nil {
		args = environment.VerifyLine(command)
	}
	result, err := env.Exec(ctx, process.Command{Args: args, Env: w.variables(),
		Stdout: io.MultiWriter(log, stdout, both, shown), Stderr: io.MultiWriter(log, both, shown),
		Total: seconds(w.run.Journey.Settings.Limits.SetUpTotalSec), OutputLimit: commandOutputLimit})
	if err == nil && !result.OK() { // a further try is written behind it
		_, err = fmt.Fprintf(log, "[%s]\n", ending(result))
	}
	if closeErr := log.Close(); err == nil {
		err = closeErr
	}
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("run set-up command %q: %w", command, err)
	}
	event := workflow.SetUpEnded{Outcome: o, LogPath: path, OK: result.OK(), DurationMS: result.Duration.Milliseconds()}
	if !event.OK {
		failure := environment.Judge(result, both.String(), w.Offline)
		event.Class = workflow.FailureClass(failure.Class)
		why := strings.TrimSuffix(ending(result)+": "+failure.Reason, ": ")
		event.Message = w.setUpMessage(command, why, shown.marked())
	} else if got := strings.TrimSuffix(stdout.String(), "\n"); a.Expected != nil && got != *a.Expected {
		event.OK, event.Class = false, workflow.FailureFixable
		event.Message = w.clean(fmt.Sprintf("%s printed %q where %q is expected", w.Redact.Line(command, 200), redact.Cut(w.Redact.Text(got), 500), redact.Cut(*a.Expected, 500)))
	}
	return event, nil
}

// setUpOutputLimit is how much of a failed command's output the documents tell, in runes. Together
// with why it failed, which comes first, it fits into what clean lets through.
const setUpOutputLimit = 2800

// setUpMessage is what failed and why, on one line, and the end of what was printed.
func (w *work) setUpMessage(command, why, output string) string {
	head := redact.Line(w.Redact.String(command), 200) + ": " + redact.Line(w.Redact.String(why), 500)
	return head + "\n" + shorten(redact.Clean(w.Redact.String(output)), setUpOutputLimit)
}
