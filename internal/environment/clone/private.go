package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// namespace is that of the environment, with its folders mounted; nil where they lie on this
// machine for all to see.
func (e *Environment) namespace(ctx context.Context) (*namespace, error) {
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
	if !n.isListedIn(record) {
		if n, err = e.hold(ctx, false); err != nil {
			return nil, err
		}
	}
	if !n.shows(e.layout.work) { // an empty folder must never be taken for one in which all was deleted
		return nil, fmt.Errorf("%w: somebody deleted the folder where it is mounted", ErrSandbox)
	}
	return n, nil
}

// noteFile lies where a work folder is mounted that is seen only inside, for a person who looks there.
const noteFile = "WHERE-ARE-THE-FILES.txt"

const noteText = `This environment's files are mounted for its own commands only, so they do not show here.

    signalbox env shell NUMBER     a shell where they are; NUMBER is the request's
`

// mountPrivately mounts the environment's overlays where they are not.
func (e *Environment) mountPrivately(ctx context.Context, overlays []overlay) error {
	if err := os.WriteFile(filepath.Join(e.layout.work, noteFile), []byte(noteText), 0o600); err != nil {
		return fmt.Errorf("note where the files are: %w", err)
	}
	e.driver.holding.Lock()
	defer e.driver.holding.Unlock()
	_, err := e.hold(ctx, true)
	return err
}

// isGone reports whether somebody deleted the folder where the environment was mounted.
func (e *Environment) isGone() bool {
	if !isFolder(e.layout.treeLayer().path) {
		return false
	}
	if !isFolder(e.layout.work) {
		return true
	}
	n := join(e.layout.holders())
	defer n.close()
	return n != nil && !n.shows(e.layout.work)
}

// tryPrivate mounts an overlay in namespaces of its own, works in it, and starts a sandbox there.
func (d *Driver) tryPrivate(ctx context.Context, o overlay) error {
	n, err := newNamespace(ctx, []overlay{o}, nil)
	if err != nil {
		return err
	}
	defer n.close()
	if err := tryReplacing(n.path(o.target)); err != nil {
		return err
	}
	m, err := d.base()
	if err != nil {
		return err
	}
	return d.probe(ctx, view{mounts: m, within: n})
}
