package perform

import (
	"context"
	"fmt"
	"io"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// runSetUp runs one set-up command, or one verification, whose standard output
// must then be exactly what is expected, one trailing newline apart (P5).
func (x *execution) runSetUp(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	env, err := x.environment(ctx)
	if err != nil {
		return nil, err
	}
	log, path, err := openLog(x.Artifacts, x.Redact, workflow.RefOf(&x.run), logName("setup", "command", a.Attempt))
	if err != nil {
		return nil, err
	}
	command := a.Commands[0]
	x.presence.Content = ""
	stdout, both, shown := &tail{limit: 64 << 10}, &tail{limit: environment.OutputTail}, &tail{limit: 8 << 10}
	args := environment.SetUpLine(command)
	if a.Expected != nil {
		args = environment.VerifyLine(command)
	}
	result, err := env.Exec(ctx, process.Command{Args: args, Env: place.Variables(&x.run),
		Stdout: io.MultiWriter(log, stdout, both, shown), Stderr: io.MultiWriter(log, both, shown),
		Total: seconds(x.run.Details.Settings.Limits.SetUpTotalSec), OutputLimit: commandOutputLimit})
	if err == nil && !result.OK() { // a further try is written behind it
		_, err = fmt.Fprintf(log, "[%s]\n", place.Ending(result))
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
		failure := environment.Judge(result, both.String(), x.Offline)
		event.Class = workflow.FailureClass(failure.Class)
		why := strings.TrimSuffix(place.Ending(result)+": "+failure.Reason, ": ")
		event.Message = x.setUpMessage(command, why, shown.marked())
	} else if got := strings.TrimSuffix(stdout.String(), "\n"); a.Expected != nil && got != *a.Expected {
		event.OK, event.Class = false, workflow.FailureFixable
		event.Message = x.clean(fmt.Sprintf("%s printed %q where %q is expected", x.Redact.Line(command, 200), redact.Cut(x.Redact.Text(got), 500), redact.Cut(*a.Expected, 500)))
	}
	return event, nil
}

// setUpOutputLimit is how much of a failed command's output the documents tell, in runes. Together
// with why it failed, which comes first, it fits into what clean lets through.
const setUpOutputLimit = 2800

// setUpMessage is what failed and why, on one line, and the end of what was printed.
func (x *execution) setUpMessage(command, why, output string) string {
	head := redact.Line(x.Redact.String(command), 200) + ": " + redact.Line(x.Redact.String(why), 500)
	return head + "\n" + shorten(redact.Clean(x.Redact.String(output)), setUpOutputLimit)
}
