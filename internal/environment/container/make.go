package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/container/engine"
	"signalbox/internal/environment/execserver"
)

// Make implements environment.Driver. A container that is there is used if it is the right one,
// started if it is not running, and replaced if it was made from something else.
func (d *Driver) Make(ctx context.Context, s environment.Spec) (environment.Environment, error) {
	made, err := d.clone.Make(ctx, withoutImage(s))
	if err != nil {
		return nil, err
	}
	e, err := d.opened(made, s.ID)
	if err == nil {
		err = e.settle(ctx, s)
	}
	if err != nil {
		return nil, fmt.Errorf("make container of environment %s: %w", s.ID, hint(err))
	}
	return e, nil
}

// Attach implements environment.Driver. The container is looked for when a command needs it.
func (d *Driver) Attach(ctx context.Context, s environment.Spec) (environment.Environment, error) {
	made, err := d.clone.Attach(ctx, withoutImage(s))
	if err != nil {
		return nil, err
	}
	return d.opened(made, s.ID)
}

// opened is an environment whose work folder is there.
func (d *Driver) opened(made environment.Environment, id string) (*Environment, error) {
	e := &Environment{driver: d, clone: made.(*clone.Environment), id: id}
	return e, e.load()
}

// settle decides on the image and brings the container up.
func (e *Environment) settle(ctx context.Context, s environment.Spec) error {
	for _, dir := range []string{e.runFolder(), e.egressFolder()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make folder for sockets: %w", err)
		}
	}
	for _, path := range e.driver.config.ReadOnly {
		if err := e.driver.mayShow(path); err != nil {
			return fmt.Errorf("show %q in the container: %w", path, err)
		}
	}
	if err := e.chooseImage(ctx, s); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bringUp(ctx, false)
}

// bringUp finds or makes the container, starts it if it is not running or must be started again,
// and waits until its server answers. The caller holds e.mu.
func (e *Environment) bringUp(ctx context.Context, again bool) error {
	e.server = nil
	found, created, err := e.found(ctx)
	if err != nil {
		return err
	}
	wait := answerWait
	if again && !created || !found.Running {
		if found, err = e.start(ctx, found.ID); err != nil {
			return err
		}
		wait = upWait
	}
	err = e.connect(ctx, found, wait)
	if errors.Is(err, execserver.ErrStale) || errors.Is(err, execserver.ErrUnavailable) {
		if !again {
			return e.bringUp(ctx, true)
		}
		return fmt.Errorf("%w: %w%s", ErrCannotStart, err, e.said(ctx, found.ID))
	}
	return err
}

// found is the environment's container as it should be, made if it is not there.
func (e *Environment) found(ctx context.Context) (c engine.Container, created bool, err error) {
	spec := e.spec()
	a, err := e.driver.engine.Do(ctx, engine.Order{Op: engine.OpContainer, Name: spec.Name})
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return e.create(ctx, spec)
	case err != nil:
		return c, false, err
	case a.Container.Labels[labelConfig] == spec.Labels[labelConfig] && a.Container.Labels[labelProject] == spec.Labels[labelProject]:
		return *a.Container, false, nil
	}
	e.driver.config.Logger.Info("replace container", "environment", e.id, "container", spec.Name)
	if err := e.driver.removeContainer(ctx, spec.Name); err != nil {
		return c, false, err
	}
	return e.create(ctx, spec)
}

// create makes the container, or finds the one that a daemon made for a Signalbox that was killed.
func (e *Environment) create(ctx context.Context, spec *engine.Spec) (c engine.Container, created bool, err error) {
	a, err := e.driver.engine.Do(ctx, engine.Order{Op: engine.OpCreate, Spec: spec})
	switch {
	case err == nil:
		return *a.Container, true, nil
	case errors.Is(err, engine.ErrConflict):
		a, err = e.driver.engine.Do(ctx, engine.Order{Op: engine.OpContainer, Name: spec.Name})
		if err != nil {
			return c, false, err
		}
		return *a.Container, false, nil
	case errors.Is(err, engine.ErrNotFound):
		return c, false, fmt.Errorf("%w: %w", ErrNoImage, err)
	case errors.Is(err, engine.ErrNoDaemon):
		return c, false, err
	}
	return c, false, fmt.Errorf("%w: %w", ErrCannotStart, err)
}

func (e *Environment) start(ctx context.Context, id string) (c engine.Container, err error) {
	a, err := e.driver.engine.Do(ctx, engine.Order{Op: engine.OpRestart, Name: id})
	switch {
	case errors.Is(err, engine.ErrNoDaemon) || ctx.Err() != nil:
		return c, err
	case err != nil:
		return c, fmt.Errorf("%w: %w", ErrCannotStart, err)
	case !a.Container.Running:
		return c, fmt.Errorf("%w: it ended at once (%s)%s", ErrCannotStart, a.Container.Ended, e.said(ctx, id))
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
	server := &execserver.Client{Dir: e.runFolder(), First: c.First, Clock: e.driver.config.Clock,
		Mounts: map[string]string{workspace: e.clone.HostDir(), home: e.clone.HostHome()}}
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
		if !errors.Is(err, execserver.ErrUnavailable) || !alive(c.First) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(upPoll):
		}
	}
}

// alive reports whether there is a process with this id.
func alive(pid int) bool {
	_, err := os.Stat(filepath.Join("/proc", fmt.Sprint(pid)))
	return pid > 0 && err == nil
}

// said is what the container's first process printed, for an error's end.
func (e *Environment) said(ctx context.Context, id string) string {
	a, err := e.driver.engine.Do(ctx, engine.Order{Op: engine.OpLogs, Name: id})
	if err != nil || a.Logs == "" {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(a.Logs), "\n")
	return fmt.Sprintf(": it said %.500q", lines[len(lines)-1])
}

// Environment is a clone and its container.
type Environment struct {
	driver *Driver
	clone  *clone.Environment
	id     string
	state  state

	// mu is held for reading while a command runs, and for writing while the container is started
	// or replaced.
	mu     sync.RWMutex
	server *execserver.Client // nil until the container was looked for

	gate gate
}

var _ environment.Environment = (*Environment)(nil)
