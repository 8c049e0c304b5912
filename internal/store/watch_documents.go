package store

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"

	"signalbox/internal/store/strict"
	"signalbox/internal/store/watch"
	"signalbox/internal/workflow"
)

// Change is a document that is there in another version than told before.
type Change struct {
	Place
	// Document is what is there now; nil if Err says why it cannot be read, or if it is gone.
	Document any
	Err      error
}

// WatchDocuments tells every change of the project's documents (of paths alone,
// if there are any) that happens after it returned, in any number of runs that
// begin meanwhile. A document that is replaced several times before it is looked
// at is told once, as it is then. The channel is closed when ctx ends.
func (s *Store) WatchDocuments(ctx context.Context, paths ...string) (<-chan Change, error) {
	w := &documentWatch{store: s, paths: paths, seen: map[string]identity{}, changes: make(chan Change),
		sub: &watch.Subscription{Collects: true, Concerns: func(fsnotify.Event) bool { return true }}}
	cancel := s.watches.Subscribe(ctx, w.sub)
	w.addFolders(".")
	if err := w.look(ctx, false); err != nil {
		cancel()
		return nil, err
	}
	go w.run(ctx)
	return w.changes, nil
}

type documentWatch struct {
	store   *Store
	sub     *watch.Subscription
	paths   []string
	seen    map[string]identity
	changes chan Change
}

func (w *documentWatch) run(ctx context.Context) {
	defer close(w.changes)
	for range w.sub.Signal {
		names, all := w.store.watches.Take(w.sub)
		var err error
		if all {
			w.addFolders(".")
			err = w.look(ctx, true)
		}
		for _, name := range names {
			err = errors.Join(err, w.follow(ctx, name))
		}
		if err != nil {
			w.store.log.Warn("documents cannot be watched", "error", err)
		}
	}
}

func (w *documentWatch) follow(ctx context.Context, name string) error {
	rel, err := w.store.Rel(name)
	if err != nil {
		return nil //nolint:nilerr // an event about something else
	}
	if mayHoldDocuments(rel) {
		w.addFolders(rel) // before the look: what comes later is told by an event
		return w.look(ctx, true)
	}
	if kind, ok := placed(rel); ok {
		w.tell(ctx, Place{rel, kind}, true)
	}
	return nil
}

// addFolders watches dir and all below it that may hold documents. One that
// went meanwhile holds none.
func (w *documentWatch) addFolders(dir string) {
	abs, err := w.store.Abs(dir)
	if err != nil {
		return
	}
	_ = w.store.watches.Add(w.sub, abs)
	entries, _ := w.store.list(dir)
	for _, entry := range entries {
		if at := path.Join(dir, entry.Name()); entry.IsDir() && mayHoldDocuments(at) {
			w.addFolders(at)
		}
	}
}

// mayHoldDocuments reports whether dir is a folder of documents or on the way to one.
func mayHoldDocuments(dir string) bool {
	parts := strings.Split(dir, "/")
	switch parts[0] {
	case ".worktrees":
		return len(parts) == 1 || dir == statusDir
	case runsDir:
		return len(parts) <= 2 || len(parts) == 3 && validateRun(workflow.RunRef{RequestID: parts[1], RunID: parts[2]}) == nil
	}
	return dir == "."
}

// placed is the kind of the project's document at path; of logs nothing is told.
func placed(rel string) (Kind, bool) {
	kind, ok := KindOf(rel, nil)
	if !ok || kind == KindEvents || filepath.Ext(rel) != ".json" {
		return "", false
	}
	switch kind {
	case KindEnvironments, KindState:
		return kind, path.Dir(rel) == "."
	case KindStatus:
		return kind, path.Dir(rel) == statusDir
	}
	_, ok = runOf(rel)
	return kind, ok && strings.Count(rel, "/") == 3
}

// look compares every document with what was told of it.
func (w *documentWatch) look(ctx context.Context, tell bool) error {
	places, err := w.store.Documents(ctx)
	if err != nil {
		return err
	}
	for _, place := range places {
		w.tell(ctx, place, tell)
	}
	return nil
}

func (w *documentWatch) tell(ctx context.Context, at Place, aloud bool) {
	if len(w.paths) > 0 && !slices.ContainsFunc(w.paths, func(p string) bool { return p == at.Path || strict.Within(p, at.Path) }) {
		return
	}
	is, err := w.store.identify(at.Path)
	was, known := w.seen[at.Path]
	switch {
	case errors.Is(err, fs.ErrNotExist) && !known, err == nil && known && is == was:
		return
	case err != nil:
		delete(w.seen, at.Path)
	default:
		w.seen[at.Path] = is
	}
	if !aloud {
		return
	}
	change := Change{Place: at}
	if change.Err = err; err == nil {
		change.Document, change.Err = w.store.read(ctx, at)
	}
	if errors.Is(change.Err, fs.ErrNotExist) {
		change.Document, change.Err = nil, nil
		delete(w.seen, at.Path)
	}
	select {
	case w.changes <- change:
	case <-ctx.Done():
	}
}

func (s *Store) identify(name string) (identity, error) {
	f, err := s.openFolder(path.Dir(name))
	if err != nil {
		return identity{}, err
	}
	defer f.close()
	return f.stat(path.Base(name))
}

func (s *Store) read(ctx context.Context, at Place) (any, error) {
	document, err := s.document(at.Kind, at.Path)
	if err != nil {
		return nil, err
	}
	value, err := document.load(ctx)
	if err != nil {
		return nil, err
	}
	return value, nil
}
