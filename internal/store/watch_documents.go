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

// Change is a document in another version than the last one reported.
type Change struct {
	Place
	// Document is nil if it was removed, or if Err says why it can't be read.
	Document any
	Err      error
}

// WatchDocuments reports every change of the project's documents (only of paths,
// if there are any) after it returns, including runs that begin later. If a
// document is replaced several times before the next look, it is reported once, in
// its latest version. The channel is closed when ctx ends.
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
			rel, outside := w.store.Rel(name)
			if outside != nil {
				continue // an event about something else
			}
			if mayHoldDocuments(rel) {
				w.addFolders(rel) // before the look: an event reports what comes later
				err = errors.Join(err, w.look(ctx, true))
			} else if kind, ok := placed(rel); ok {
				w.compare(ctx, Place{rel, kind}, true)
			}
		}
		if err != nil {
			w.store.log.Warn("documents can't be watched", "error", err)
		}
	}
}

// look compares every document with its reported version.
func (w *documentWatch) look(ctx context.Context, report bool) error {
	places, err := w.store.Documents(ctx)
	for _, place := range places {
		w.compare(ctx, place, report)
	}
	return err
}

// addFolders watches dir and every folder below it that may hold documents. A
// folder that was removed meanwhile holds none.
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

// placed returns the kind of the project's document at path; logs aren't reported.
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

// compare remembers the version of the document at a place, and reports it if it is another than before.
func (w *documentWatch) compare(ctx context.Context, at Place, report bool) {
	if len(w.paths) > 0 && !slices.ContainsFunc(w.paths, func(p string) bool { return p == at.Path || strict.Within(p, at.Path) }) {
		return
	}
	var is identity
	f, err := w.store.openFolder(path.Dir(at.Path))
	if err == nil {
		is, err = f.stat(path.Base(at.Path))
		f.close()
	}
	was, known := w.seen[at.Path]
	switch {
	case errors.Is(err, fs.ErrNotExist) && !known, err == nil && known && is == was:
		return
	case err != nil:
		delete(w.seen, at.Path)
	default:
		w.seen[at.Path] = is
	}
	if !report {
		return
	}
	change := Change{Place: at, Err: err}
	if err == nil {
		var document anyDocument
		if document, change.Err = w.store.document(at.Kind, at.Path); change.Err == nil {
			change.Document, change.Err = document.load(ctx)
		}
	}
	if errors.Is(change.Err, fs.ErrNotExist) {
		change.Err = nil
		delete(w.seen, at.Path)
	}
	select {
	case w.changes <- change:
	case <-ctx.Done():
	}
}
