package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"signalbox/internal/store/watch"
	"signalbox/internal/workflow"
)

// Watch signals that something at one of paths (slash paths below the project
// root; of a folder: anything in it) may have changed since the last signal.
// Signals coalesce: one that isn't taken yet covers all that follow. The folder of
// a file must exist, the file need not. The channel is closed when ctx ends. A
// holder that dies writes nothing, so a watch of locks misses it.
//
// All watches of a Store share one inotify instance. If the kernel has none left,
// they get a signal a few times a second, changed or not.
func (s *Store) Watch(ctx context.Context, paths ...string) (<-chan struct{}, error) {
	watched, folders := map[string]bool{}, []string(nil)
	for _, rel := range paths {
		abs, err := s.Abs(rel)
		if err != nil {
			return nil, fmt.Errorf("watch %s: %w", rel, err)
		}
		watched[abs] = true
		if info, err := s.root.Stat(rel); err != nil || !info.IsDir() {
			abs = filepath.Dir(abs) // never a file: a replaced file is another file
		}
		folders = append(folders, abs)
	}
	sub := &watch.Subscription{Concerns: func(event fsnotify.Event) bool {
		return watched[event.Name] || watched[filepath.Dir(event.Name)]
	}}
	cancel := s.watches.Subscribe(ctx, sub)
	for _, folder := range folders {
		if err := s.watches.Add(sub, folder); err != nil {
			cancel()
			return nil, fmt.Errorf("watch %s: %w", folder, err)
		}
	}
	return sub.Signal, nil
}

// WatchRun is Watch of a run's stage.json.
func (s *Store) WatchRun(ctx context.Context, ref workflow.RunRef) (<-chan struct{}, error) {
	return s.Watch(ctx, RunDir(ref)+"/"+stageFile)
}

// WatchSlots is Watch of the locks.
func (s *Store) WatchSlots(ctx context.Context) (<-chan struct{}, error) {
	return s.Watch(ctx, locksDir)
}

// Watched returns why the kernel would not report changes now, so that files are polled; nil if it would.
func (s *Store) Watched() error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	return errors.Join(watcher.Add(s.root.Name()), watcher.Close())
}
