package container

import (
	"context"
	"errors"
	"fmt"
	"time"

	"signalbox/internal/environment/container/engine"
)

// found returns the environment's container as it should be, made if it is not there.
func (e *Environment) found(ctx context.Context) (c engine.Container, err error) {
	spec := e.spec()
	a, err := e.driver.engine.Do(ctx, engine.Order{Op: engine.OpContainer, Name: spec.Name})
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return e.create(ctx, spec)
	case err != nil:
		return c, err
	case !a.Container.Going && (e.guest || a.Container.Labels[labelConfig] == spec.Labels[labelConfig]):
		return *a.Container, nil
	}
	e.driver.config.Logger.Info("replace container", "environment", e.id, "container", spec.Name)
	if err := e.driver.removeContainer(ctx, spec.Name); err != nil {
		return c, err
	}
	return e.create(ctx, spec)
}

// create makes the container, or finds the one that the daemon makes for a Signalbox that was
// killed: its name is taken before it can be seen, so it is waited for.
func (e *Environment) create(ctx context.Context, spec *engine.Spec) (c engine.Container, err error) {
	waited := time.After(takenWait)
	for {
		a, err := e.driver.engine.Do(ctx, engine.Order{Op: engine.OpCreate, Spec: spec})
		if !errors.Is(err, engine.ErrConflict) {
			return created(ctx, a, err)
		}
		a, err = e.driver.engine.Do(ctx, engine.Order{Op: engine.OpContainer, Name: spec.Name})
		if !errors.Is(err, engine.ErrNotFound) {
			return created(ctx, a, err)
		}
		select {
		case <-ctx.Done():
			return c, ctx.Err()
		case <-waited:
			return c, fmt.Errorf("%w: its name %s is taken", ErrCannotStart, spec.Name)
		case <-time.After(takenPoll):
		}
	}
}

const (
	// takenWait is longer than a daemon needs for a container on a busy machine.
	takenWait = 30 * time.Second
	// takenPoll is how often to look whether a name is free or its container there.
	takenPoll = 100 * time.Millisecond
)

func created(ctx context.Context, a engine.Answer, err error) (c engine.Container, _ error) {
	switch {
	case err == nil:
		return *a.Container, nil
	case errors.Is(err, engine.ErrNotFound):
		return c, fmt.Errorf("%w: %w", ErrNoImage, err)
	case errors.Is(err, engine.ErrNoDaemon) || ctx.Err() != nil:
		return c, err
	}
	return c, fmt.Errorf("%w: %w", ErrCannotStart, err)
}
