package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"signalbox/internal/app"
	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/perform"
	"signalbox/internal/place"
	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// free refuses a request that is done, or on which a process works.
func (s *Sessions) free(ctx context.Context, request forge.Request) error {
	if request.Closed {
		return &problem.Error{Err: fmt.Errorf("request %d is closed: its change is merged", request.Number), Hint: "see it: signalbox status " + request.ID}
	}
	holder, held, err := s.Held(ctx, request.ID)
	if err == nil && held {
		err = app.HeldRequest(request.Number, holder)
	}
	return err
}

// prepare is the request's run with an environment, which it makes if there is none.
func (s *Sessions) prepare(ctx context.Context, request forge.Request) (workflow.Run, error) {
	latest, err := s.Store.LatestRun(ctx, request.ID)
	if err == nil && latest.Err == nil {
		run := latest.Run
		if err := app.Undecided(&run); err != nil {
			return run, err
		}
		if run.Details.EnvID != "" && slices.Contains([]workflow.State{workflow.NeedsInput, workflow.Failed, workflow.Queued}, run.State) {
			return run, nil // a run that was cut off has to be stopped first
		}
		if err := s.wakeUp(ctx, latest); err != nil {
			return run, wire.Explained(err)
		}
	}
	e := s.Engine(perform.Config{Places: s.Places()}, nil)
	run, err := e.Prepare(ctx, request.ID, fmt.Sprintf("session start %d", request.Number), func(ctx context.Context) (workflow.RunRef, error) {
		return s.LatestIf(ctx, e, request, s.InMainTree, func(ctx context.Context) (workflow.Start, error) { return s.Start(ctx, request) })
	})
	var held *store.HeldError
	switch {
	case errors.As(err, &held):
		return run, app.HeldRequest(request.Number, held.Holder)
	case err != nil:
		return run, wire.Explained(err)
	case ctx.Err() != nil:
		return run, ctx.Err()
	case run.State.Final():
		return run, &problem.Error{Err: fmt.Errorf("run %s is over", run.Ref()), Hint: "see it: signalbox status " + run.Ref()}
	case run.Details.EnvID == "":
		return run, &StoppedError{run}
	}
	return run, nil
}

// maySpend refuses a session if a budget is spent. The session's host checks again, under the lock.
func (s *Sessions) maySpend(ctx context.Context, run *workflow.Run, request forge.Request, grant bool) error {
	err := s.Places().MaySpend(ctx, run, grant)
	switch {
	case errors.Is(err, place.ErrDaySpent):
		return &problem.Error{Err: err, Hint: "wait until the day is over (UTC), or raise limits.per_day in " + config.Name}
	case errors.Is(err, place.ErrRunSpent):
		return &problem.Error{Err: err, Hint: fmt.Sprintf("grant as much again: signalbox session start %d --grant", request.Number)}
	}
	return wire.Explained(err)
}

// wakeUp resumes a run that stopped before it had an environment.
func (s *Sessions) wakeUp(ctx context.Context, latest store.RunSummary) error {
	return s.Store.Signal(ctx, latest.Ref, func(given *workflow.Signals) error {
		switch latest.Run.State {
		case workflow.NeedsInput:
			given.ResumeRequested = true
		case workflow.Failed:
			given.Commands = append(given.Commands, app.Personal(workflow.CommandRetry, "", ""))
		}
		return nil
	})
}
