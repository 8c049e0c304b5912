package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/flock"
	"signalbox/internal/process"
)

// hold takes hold of the namespace that others hold, or makes another. Unless anew it must not be
// the first: without a record the environment is being made anew by somebody else.
func (e *Environment) hold(ctx context.Context, anew bool) (*overlay.Namespace, error) {
	d := e.driver
	if d.config.Unsandboxed || d.config.OnHost {
		return nil, fmt.Errorf("%w: it was made for a sandbox that mounts its folders, and commands no longer run in one", environment.ErrOtherSpec)
	}
	unlock, err := e.layout.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	_, err = os.Lstat(e.layout.holders())
	first := anew && errors.Is(err, fs.ErrNotExist)
	if err != nil && !first {
		return nil, fmt.Errorf("look for the environment's mounts: %w", err)
	}
	n := overlay.Join(e.layout.holders())
	if n == nil {
		if n, err = e.mountAnew(ctx, first); err != nil {
			return nil, err
		}
	}
	d.held[e.layout.private].Close()
	d.held[e.layout.private] = n
	return n, n.Note()
}

// mountAnew mounts what the marker says in a new namespace, and begins a new record. From then on
// there is one, also when every holder or the machine was ended, so that nobody takes the empty
// mount point for the work folder.
func (e *Environment) mountAnew(ctx context.Context, first bool) (*overlay.Namespace, error) {
	if !first { // who held it may have died a moment ago, and what it ran be about to
		if _, err := process.SweepOrphans(ctx, e.driver.sandbox.Tag()); err != nil {
			return nil, fmt.Errorf("end what still uses its folders: %w", err)
		}
	}
	m, err := e.marker()
	if err != nil {
		return nil, err
	}
	if m.Warm == nil || m.Warm.Way != Private {
		return nil, fmt.Errorf("mount its folders: %w", errNoBase)
	}
	n, err := overlay.NewNamespace(ctx, e.overlays(m), e.driver.sandbox.Addresses())
	if err != nil {
		return nil, err
	}
	if err := n.BeginRecord(e.layout.holders()); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// letGo lets go of an environment's namespace, and says that it has none. Another process that
// holds it sees that at its next call; until then it holds what nobody writes to.
func (d *Driver) letGo(ctx context.Context, l layout) error {
	d.holding.Lock()
	defer d.holding.Unlock()
	d.held[l.private].Close()
	delete(d.held, l.private)
	if !folder.Is(l.private) {
		return nil
	}
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Remove(l.holders()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end the record of mounts: %w", err)
	}
	return nil
}

// lock keeps others from mounting at the same time: what is locked is the environment's private folder.
func (l layout) lock(ctx context.Context) (unlock func(), err error) {
	f, err := os.Open(l.private)
	if err == nil {
		err = flock.Wait(ctx, f)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the environment's mounts: %w", err)
	}
	return func() { _ = flock.Release(f) }, nil
}
