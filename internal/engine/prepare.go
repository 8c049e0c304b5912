package engine

import (
	"context"
	"errors"

	"signalbox/internal/workflow"
)

// preparing is how many runs are prepared beside those that are carried: making an environment is
// short, and a person waits for it.
const preparing = 16

// Prepare is Run as far as the run's environment, whatever the request depends on. There the run
// stops (NEEDS_INPUT), for a session or a person to go on in its environment. If it ends otherwise,
// the run says so, as Run leaves it.
func (e *Engine) Prepare(ctx context.Context, requestID, owner string, which func(context.Context) (workflow.RunRef, error)) (workflow.Run, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	own := *e
	own.prepares = true
	own.MaxParallel += preparing
	own.Observe = func(run workflow.Run) {
		e.Observe(run)
		if run.Details.EnvID != "" && !run.Details.EnvRemoved {
			stop(errPrepared)
		}
	}
	return own.Run(ctx, requestID, owner, which)
}

var errPrepared = errors.New("the environment is there")

// standStill is what the end of ctx says to the run.
func standStill(ctx context.Context) workflow.Event {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errPrepared):
		return workflow.Prepared{}
	case errors.Is(cause, ErrInterrupted):
		return workflow.Interrupted{}
	}
	return workflow.StopRequested{}
}
