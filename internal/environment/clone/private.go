package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/flock"
	"signalbox/internal/process"
)

// namespace is that of the environment, with its folders mounted; nil where they lie on this
// machine for all to see.
func (e *Environment) namespace(ctx context.Context) (*overlay.Namespace, error) {
	record, err := os.Lstat(e.layout.holders())
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
	if !n.Shows(e.layout.work) { // an empty folder must never be taken for one in which all was deleted
		return nil, fmt.Errorf("%w: somebody deleted the folder where it is mounted", ErrSandbox)
	}
	return n, nil
}

// noteText is what overlay.NoteFile says.
const noteText = `This environment's files are mounted for its own commands only, so they do not show here.

    signalbox env shell NUMBER     a shell where they are; NUMBER is the request's
`

// mountPrivately mounts the environment's overlays where they are not.
func (e *Environment) mountPrivately(ctx context.Context, overlays []overlay.Mount) error {
	if err := os.WriteFile(filepath.Join(e.layout.work, overlay.NoteFile), []byte(noteText), 0o600); err != nil {
		return fmt.Errorf("note where the files are: %w", err)
	}
	e.driver.holding.Lock()
	defer e.driver.holding.Unlock()
	_, err := e.hold(ctx, true)
	return err
}

// isGone reports whether somebody deleted the folder where the environment was mounted.
func (e *Environment) isGone() bool {
	if !folder.Is(e.layout.treeLayer().Path) {
		return false
	}
	if !folder.Is(e.layout.work) {
		return true
	}
	n := overlay.Join(e.layout.holders())
	defer n.Close()
	return n != nil && !n.Shows(e.layout.work)
}

// tryPrivate mounts an overlay in namespaces of its own, works in it, and starts a sandbox there.
func (d *Driver) tryPrivate(ctx context.Context, o overlay.Mount) error {
	n, err := overlay.NewNamespace(ctx, []overlay.Mount{o}, nil)
	if err != nil {
		return err
	}
	defer n.Close()
	if err := overlay.Works(n.Path(o.Target), false); err != nil {
		return err
	}
	m, err := d.sandbox.Base()
	if err != nil {
		return err
	}
	return d.sandbox.Probe(ctx, sandbox.View{Mounts: m, Within: n})
}

// tryOverlays reports how overlays can be mounted here, by doing it: that takes root or namespaces
// of one's own, a file system which keeps their marks, and a kernel that allows it. What a crash
// leaves of the attempt goes with the environment.
func (e *Environment) tryOverlays(ctx context.Context) Way {
	if overlay.RemoveTrial(e.layout.trial()) != nil {
		return Copy
	}
	defer func() { _ = overlay.RemoveTrial(e.layout.trial()) }()
	o, err := overlay.Trial(e.layout.trial())
	switch {
	case err != nil:
	case os.Geteuid() == 0:
		if overlay.Make(o, false) == nil && overlay.Works(o.Target, true) == nil {
			return Overlay
		}
	case !e.driver.config.OnHost:
		if e.driver.tryPrivate(ctx, o) == nil {
			return Private
		}
	}
	return Copy
}

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
