package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/environment/clone/sandbox"
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
	if err := overlay.Replaces(n.Path(o.Target)); err != nil {
		return err
	}
	m, err := d.sandbox.Base()
	if err != nil {
		return err
	}
	return d.sandbox.Probe(ctx, sandbox.View{Mounts: m, Within: n})
}
