package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"signalbox/internal/environment/container/engine"
	"signalbox/internal/environment/execserver"
)

const (
	// takenWait is longer than a daemon needs to make a container on a busy machine.
	takenWait = 30 * time.Second
	// takenPoll is the time between two looks whether a name is free or its container there.
	takenPoll = 100 * time.Millisecond
)

// create makes the container. If its name is taken, a daemon may still be making the container for a killed
// Signalbox: the name is taken before the container can be seen, so create waits for it.
func (e *Environment) create(ctx context.Context, spec *engine.Spec) (c engine.Container, err error) {
	waited := time.After(takenWait)
	for {
		a, err := e.driver.engine.Do(ctx, engine.Order{Op: engine.OpCreate, Spec: spec})
		if errors.Is(err, engine.ErrConflict) {
			a, err = e.driver.engine.Do(ctx, engine.Order{Op: engine.OpContainer, Name: spec.Name})
			if errors.Is(err, engine.ErrNotFound) {
				select {
				case <-ctx.Done():
					return c, ctx.Err()
				case <-waited:
					return c, fmt.Errorf("%w: its name %s is taken", ErrCannotStart, spec.Name)
				case <-time.After(takenPoll):
				}
				continue
			}
		}
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
}

// start restarts the container, which ends everything in it.
func (e *Environment) start(ctx context.Context) (c engine.Container, err error) {
	a, err := e.driver.engine.Do(ctx, engine.Order{Op: engine.OpRestart, Name: e.driver.containers + e.id})
	switch {
	case errors.Is(err, engine.ErrNoDaemon) || ctx.Err() != nil:
		return c, err
	case err != nil:
		return c, fmt.Errorf("%w: %w", ErrCannotStart, err)
	case !a.Container.Running:
		return c, fmt.Errorf("%w: it ended at once (%s)", ErrCannotStart, a.Container.Ended)
	}
	return *a.Container, nil
}

const (
	// upWait is how long a new server may take to answer; it takes some 20 ms.
	upWait = 10 * time.Second
	// answerWait is how long a server may take that was running before: another Signalbox may just have
	// started it.
	answerWait = 500 * time.Millisecond
	// upPoll is the time between two attempts: nothing signals that a socket exists.
	upPoll = 5 * time.Millisecond
)

// connect waits for the server of container c.
func (e *Environment) connect(ctx context.Context, c engine.Container, wait time.Duration) error {
	hostWork, hostHome := e.clone.HostFolders()
	server := &execserver.Client{Dir: e.runFolder, First: c.First, Clock: e.driver.config.Clock,
		Mounts: map[string]string{workspace: hostWork, home: hostHome}}
	for _, m := range e.state.Shown {
		server.Mounts[m.Target] = m.Source
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		err := server.Ready(ctx)
		if err == nil {
			e.server = server
			return nil
		}
		if !errors.Is(err, execserver.ErrUnavailable) {
			return err
		}
		if _, errGone := os.Stat(filepath.Join("/proc", fmt.Sprint(c.First))); c.First <= 0 || errGone != nil {
			return fmt.Errorf("%w: its first process ended", err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(upPoll):
		}
	}
}
