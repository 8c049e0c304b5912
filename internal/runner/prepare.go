package runner

import (
	"context"
	"errors"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// preparing is how many runs are prepared beside those that are carried: making an environment is
// short, and whoever asked for it waits.
const preparing = 16

// Prepare is Carry as far as the run's environment, whatever the request depends on; there the run
// stands still (NEEDS_INPUT), for somebody who goes on in its environment by hand (see Enter).
// Another end than that is in the run, as Carry leaves it.
func (r *Runner) Prepare(ctx context.Context, requestID, owner string, which func(context.Context) (store.RunRef, error)) (workflow.Run, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	own := *r
	own.prepares = true
	own.MaxParallel += preparing
	own.Observe = func(run workflow.Run) {
		r.Observe(run)
		if prepared(&run) {
			stop(errPrepared)
		}
	}
	return own.Carry(ctx, requestID, owner, which)
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

// prepared reports whether the run has come to its environment.
func prepared(run *workflow.Run) bool { return run.Journey.EnvID != "" && !run.Journey.EnvRemoved }
