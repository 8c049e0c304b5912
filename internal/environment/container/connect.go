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

func (e *Environment) start(ctx context.Context) (c engine.Container, err error) {
	a, err := e.driver.engine.Do(ctx, engine.Order{Op: engine.OpRestart, Name: e.driver.containerName(e.id)})
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
	// upWait is how long a server may take that was just started; it takes some 20 ms.
	upWait = 10 * time.Second
	// answerWait is how long one may take that was running before: another Signalbox may just
	// have started it.
	answerWait = 500 * time.Millisecond
	// upPoll is how often it is asked: nothing tells when a socket is there.
	upPoll = 5 * time.Millisecond
)

// connect waits for the server of container c.
func (e *Environment) connect(ctx context.Context, c engine.Container, wait time.Duration) error {
	hostWork, hostHome := e.clone.HostFolders()
	server := &execserver.Client{Dir: e.runFolder(), First: c.First, Clock: e.driver.config.Clock,
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
