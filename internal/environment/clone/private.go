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
	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/flock"
	"signalbox/internal/process"
)

// namespace returns the environment's namespace, in which its folders are mounted. It is nil if every process of this machine
// sees them.
func (e *Environment) namespace(ctx context.Context) (*overlay.Namespace, error) {
	record, err := os.Lstat(e.layout.holders)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the environment's mounts: %w", err)
	}
	d := e.driver
	d.holding.Lock()
	defer d.holding.Unlock()
	n := d.held[e.layout.private]
	if !n.IsListedIn(record) {
		if n, err = e.hold(ctx, false); err != nil {
			return nil, err
		}
	}
	mounted := e.layout.home
	if folder.Is(e.layout.treeLayer.Path) { // an empty mount point must never count as a work folder in which all was deleted
		mounted = e.layout.work
	}
	if !n.Shows(mounted) {
		return nil, fmt.Errorf("%s was deleted while something works in the environment: end that (an \"env shell\", say), then try again", mounted)
	}
	return n, nil
}

// noteText is the content of overlay.NoteFile.
const noteText = `This environment's files are mounted for its own commands only, so they do not show here.

    signalbox env shell NUMBER     a shell that sees them; NUMBER is the request's
`

// isGone reports whether the mount point of the environment was deleted.
func (e *Environment) isGone() bool {
	if !folder.Is(e.layout.treeLayer.Path) {
		return false
	}
	if !folder.Is(e.layout.work) {
		return true
	}
	n := overlay.Join(e.layout.holders)
	defer n.Close()
	return n != nil && !n.Shows(e.layout.work)
}

// tryOverlays finds the way to mount overlays here by trying it: it takes root or user namespaces, a file system that keeps the
// marks of overlays, and a kernel that allows it. A crash leaves the trial to the environment's Remove.
func (e *Environment) tryOverlays(ctx context.Context) Way {
	if overlay.RemoveTrial(e.layout.trial) != nil {
		return Copy
	}
	defer func() { _ = overlay.RemoveTrial(e.layout.trial) }()
	o, err := overlay.Trial(e.layout.trial)
	switch {
	case err != nil:
		return Copy
	case os.Geteuid() == 0:
		if overlay.Make(o, false) == nil && overlay.Works(o.Target, true) == nil {
			return Overlay
		}
		return Copy
	case e.driver.config.OnHost:
		return Copy
	}
	// Private needs an overlay in namespaces of its own, and a sandbox there.
	n, err := overlay.NewNamespace(ctx, []overlay.Mount{o}, nil)
	if err != nil {
		return Copy
	}
	defer n.Close()
	m, err := e.driver.sandbox.Base()
	if err == nil && overlay.Works(n.Path(o.Target), false) == nil && e.driver.sandbox.Probe(ctx, sandbox.View{Mounts: m, Within: n}) == nil {
		return Private
	}
	return Copy
}

// hold opens the namespace that other processes hold, or makes a new one. Unless mayBeFirst is set there must be a record:
// without one another process is rebuilding the environment.
func (e *Environment) hold(ctx context.Context, mayBeFirst bool) (*overlay.Namespace, error) {
	d := e.driver
	if d.config.Unsandboxed || d.config.OnHost {
		return nil, fmt.Errorf("%w: it was made for a sandbox that mounts its folders, and commands no longer run in one", environment.ErrOtherSpec)
	}
	unlock, err := e.layout.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	_, err = os.Lstat(e.layout.holders)
	first := mayBeFirst && errors.Is(err, fs.ErrNotExist)
	if err != nil && !first {
		return nil, fmt.Errorf("look for the environment's mounts: %w", err)
	}
	n := overlay.Join(e.layout.holders)
	if n == nil {
		if n, err = e.mountAnew(ctx, first); err != nil {
			return nil, err
		}
	}
	d.held[e.layout.private].Close()
	d.held[e.layout.private] = n
	return n, n.Note()
}

// mountAnew mounts the overlays of the marker in a new namespace, and begins a new record. The record stays when all holders or
// the machine end, so that the empty mount point never counts as the work folder.
func (e *Environment) mountAnew(ctx context.Context, first bool) (*overlay.Namespace, error) {
	if !first { // a holder may have died a moment ago, and its commands may not have ended yet
		if _, err := process.SweepOrphans(ctx, e.driver.sandbox.Tag()); err != nil {
			return nil, fmt.Errorf("end the processes that still use its folders: %w", err)
		}
	}
	m, err := e.marker()
	if err != nil {
		return nil, err
	}
	if !m.Warm.isHidden() {
		return nil, fmt.Errorf("mount its folders: %w", errNoSnapshot)
	}
	n, err := overlay.NewNamespace(ctx, e.overlays(m), e.driver.sandbox.Addresses())
	if err != nil {
		return nil, err
	}
	if err := n.BeginRecord(e.layout.holders); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// letGo closes an environment's namespace and removes its record. Another process that holds the namespace notices at its next
// call; until then no one writes there.
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
	if err := os.Remove(l.holders); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end the record of mounts: %w", err)
	}
	return nil
}

// lock locks the environment's private folder, so that no two processes mount at the same time.
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
