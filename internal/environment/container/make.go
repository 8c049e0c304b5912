package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/container/engine"
	"signalbox/internal/environment/execserver"
	"signalbox/internal/redact"
)

// Make implements environment.Driver. It uses an existing container if it is the right one, starts it if it
// isn't running, and replaces it if it was made from something else.
func (d *Driver) Make(ctx context.Context, s environment.Spec) (environment.Environment, error) {
	folder := s
	folder.Image = "" // the work folder doesn't depend on it
	made, err := d.clone.Make(ctx, folder)
	if other := new(environment.OtherSpecError); errors.As(err, &other) {
		other.Made.Image = s.Image
	}
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

// Attach implements environment.Driver. It looks for the container only when a command needs it.
func (d *Driver) Attach(ctx context.Context, s environment.Spec) (environment.Environment, error) {
	s.Image = "" // the work folder doesn't depend on it
	made, err := d.clone.Attach(ctx, s)
	if err != nil {
		return nil, err
	}
	e, err := d.opened(made, s.ID)
	if err != nil {
		return nil, err
	}
	e.guest = true
	return e, nil
}

// settle decides on the image and brings the container up. An environment keeps its image as long as the
// same reference is asked for.
func (e *Environment) settle(ctx context.Context, s environment.Spec) error {
	for _, dir := range []string{e.runFolder, e.egressFolder} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make folder for sockets: %w", err)
		}
	}
	for _, path := range e.driver.config.ReadOnly {
		if err := e.driver.mayShow(path); err != nil {
			return fmt.Errorf("show %q in the container: %w", path, err)
		}
	}
	reference, build, err := e.driver.reference(ctx, s)
	if err != nil {
		return err
	}
	same := reference == e.state.Reference
	for _, name := range []string{e.state.Image, e.state.Base} {
		if same {
			_, err := e.driver.image(ctx, name)
			same = err == nil
		}
	}
	if !same {
		image, err := e.driver.image(ctx, reference)
		if errors.Is(err, engine.ErrNotFound) && build != nil {
			image, err = e.driver.build(ctx, build)
		}
		if errors.Is(err, engine.ErrNotFound) {
			return fmt.Errorf("%w: %s is not on this machine: docker pull %s, or name another in environment.image or environment.images",
				ErrNoImage, reference, reference)
		}
		if err != nil {
			return err
		}
		e.state = state{Reference: reference, Base: image.ID, Image: image.ID, Env: image.Env, Shown: e.state.Shown}
		if err := e.save(); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bringUp(ctx)
}

// bringUp finds or makes the container and waits until its server answers. If the server does not answer, it
// restarts the container; if the container does not start, it makes it again. The caller holds e.mu.
func (e *Environment) bringUp(ctx context.Context) error {
	e.server = nil
	if err := e.hideGone(ctx); err != nil {
		return err
	}
	var problems []error
	for _, attempt := range []func(context.Context) error{e.use, e.restart, e.replace} {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || !unusable(err) && !errors.Is(err, ErrCannotStart) {
			return err
		}
		problems = append(problems, err)
	}
	said := "" // by the container's first process
	a, err := e.driver.engine.Do(ctx, engine.Order{Op: engine.OpLogs, Name: e.driver.containers + e.id})
	if err == nil && a.Logs != "" {
		lines := strings.Split(strings.TrimSpace(a.Logs), "\n")
		said = fmt.Sprintf(": it said %q", redact.Cut(lines[len(lines)-1], engine.Shown))
	}
	return fmt.Errorf("%w: %w%s", ErrCannotStart, problems[len(problems)-1], said)
}

// use connects to the container as it is, and first makes it if it is missing or was made from something
// else. A guest uses any container that is there.
func (e *Environment) use(ctx context.Context) error {
	spec := e.spec()
	var found engine.Container
	a, err := e.driver.engine.Do(ctx, engine.Order{Op: engine.OpContainer, Name: spec.Name})
	switch {
	case errors.Is(err, engine.ErrNotFound):
		found, err = e.create(ctx, spec)
	case err != nil:
	case !a.Container.Going && (e.guest || a.Container.Labels[labelConfig] == spec.Labels[labelConfig]):
		found = *a.Container
	default:
		e.driver.config.Logger.Info("replace container", "environment", e.id, "container", spec.Name)
		if err = e.driver.removeContainer(ctx, spec.Name); err == nil {
			found, err = e.create(ctx, spec)
		}
	}
	if err != nil {
		return err
	}
	if found.Running {
		return e.connect(ctx, found, answerWait)
	}
	return e.restart(ctx)
}

// restart ends what runs in the container and starts it.
func (e *Environment) restart(ctx context.Context) error {
	started, err := e.start(ctx)
	if err != nil {
		return err
	}
	return e.connect(ctx, started, upWait)
}

// replace makes the container again, from its own file system if that can be saved.
func (e *Environment) replace(ctx context.Context) error {
	image, err := e.saved(ctx)
	if err == nil {
		e.state.Image = image
		err = e.save()
	}
	e.driver.config.Logger.Warn("make container again: it cannot be started", "environment", e.id, "saved", err == nil)
	if err := e.driver.removeContainer(ctx, e.driver.containers+e.id); err != nil {
		return err
	}
	return e.use(ctx)
}

// work is what the clone driver's environment does unchanged. After a Reset that replaces the work folder,
// the next command notices that the container shows the old one, and restarts it.
type work interface {
	Private() string
	Record(ctx context.Context, parent, message string) (environment.Change, error)
	Reset(ctx context.Context, commit, keepRef string) error
	Read(ctx context.Context, name string, limit int64) ([]byte, error)
	Submodules(ctx context.Context, commit string) error
}

// Environment is a clone and its container.
type Environment struct {
	work
	driver *Driver
	clone  *clone.Environment
	id     string
	state  state
	// In the environment's private folder: the exec server's socket, the proxy's socket, and the state.
	runFolder, egressFolder, stateFile string
	// guest: another process made the environment and may be using it, so any existing container is used.
	guest bool

	// mu is held for reading while a command runs, and for writing while the container is started or
	// replaced.
	mu     sync.RWMutex
	server *execserver.Client // nil until the container answers

	gate gate
}

var _ environment.Environment = (*Environment)(nil)
