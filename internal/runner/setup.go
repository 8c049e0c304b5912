package runner

import (
	"context"
	"fmt"
	"io"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/process"
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
		args = environment.Activated(shell(command))
	}
	result, err := env.Exec(ctx, process.Command{Args: args, Env: w.variables(),
		Stdout: io.MultiWriter(log, stdout, both, shown), Stderr: io.MultiWriter(log, both, shown),
		Total: seconds(w.run.Journey.Settings.Limits.SetUpTotalSec), OutputLimit: commandOutputLimit})
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
		event.Class = workflow.FailureClass(environment.Classify(result, both.String()))
		why := strings.TrimSuffix(ending(result)+": "+environment.Reason(result, both.String()), ": ")
		event.Message = w.clean(fmt.Sprintf("%s: %s\n%s", command, why, shown))
	} else if got := strings.TrimSuffix(stdout.String(), "\n"); a.Expected != nil && got != *a.Expected {
		event.OK, event.Class = false, workflow.FailureFixable
		event.Message = w.clean(fmt.Sprintf("%s printed %q where %q is expected", command, got, *a.Expected))
	}
	return event, nil
}
