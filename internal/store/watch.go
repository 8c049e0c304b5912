package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// Watch tells that something at one of paths (slash paths below the project
// root; of a folder: anything in it) may have changed since the last telling.
// Tellings coalesce: one that is not taken yet stands for all that follow. The
// folder of a file must exist, the file need not. The channel is closed when
// ctx ends. A holder that dies writes nothing, so a watch of locks misses it.
func (s *Store) Watch(ctx context.Context, paths ...string) (<-chan struct{}, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch project: %w", err)
	}
	watched := map[string]bool{}
	for _, rel := range paths {
		if err := s.addWatch(watcher, watched, rel); err != nil {
			return nil, errors.Join(fmt.Errorf("watch %s: %w", rel, err), watcher.Close())
		}
	}
	changes := make(chan struct{}, 1)
	go forward(ctx, watcher, watched, changes)
	return changes, nil
}

// addWatch watches folders, never files: a replaced file is another file.
func (s *Store) addWatch(watcher *fsnotify.Watcher, watched map[string]bool, rel string) error {
	abs, err := s.Abs(rel)
	if err != nil {
		return err
	}
	watched[abs] = true
	if info, err := s.root.Stat(rel); err != nil || !info.IsDir() {
		abs = filepath.Dir(abs)
	}
	return watcher.Add(abs)
}

func forward(ctx context.Context, watcher *fsnotify.Watcher, watched map[string]bool, changes chan<- struct{}) {
	defer close(changes)
	defer func() { _ = watcher.Close() }()
	for {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-watcher.Events:
			if !ok {
				return
			}
			if !concerns(watched, event) {
				continue
			}
		case _, ok := <-watcher.Errors:
			// An overflow, most likely: events were lost, and any of them may have been ours.
			if !ok {
				return
			}
		}
		select {
		case changes <- struct{}{}:
		default:
		}
	}
}

func concerns(watched map[string]bool, event fsnotify.Event) bool {
	if event.Op == fsnotify.Chmod || strings.HasPrefix(filepath.Base(event.Name), ".tmp-") {
		return false
	}
	return watched[event.Name] || watched[filepath.Dir(event.Name)]
}
