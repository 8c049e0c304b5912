package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watched are the folders in which a run shows what it does.
var watched = []string{"", "runs", "runs/*", "runs/*/[0-9]*", "runs/*/[0-9]*/logs", "runs/*/[0-9]*/patches", ".signalbox", ".signalbox/pulls",
	".signalbox/requests", ".worktrees", ".git/refs/heads", ".git/refs/heads/signalbox"}

// until waits until what a project's folders, and more of them, show fulfils the condition, and
// reports whether it did before done was closed.
func until(t testing.TB, dir string, done <-chan struct{}, condition func() bool, more ...string) bool {
	t.Helper()
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = watcher.Close() }()
	deadline, patterns := time.After(patience), slices.Concat(watched, more)
	watch(watcher, dir, patterns)
	for !condition() {
		select {
		case e := <-watcher.Events:
			if info, err := os.Lstat(e.Name); e.Has(fsnotify.Create) && err == nil && info.IsDir() {
				watch(watcher, dir, patterns)
			}
		case <-done:
			return false
		case <-deadline:
			t.Fatal("what was waited for does not come")
		}
	}
	return true
}

// watch adds the folders that there are now, each before those within it.
func watch(watcher *fsnotify.Watcher, dir string, patterns []string) {
	for _, pattern := range patterns {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, folder := range found {
			_ = watcher.Add(folder) // again is no change, and one that just went needs none
		}
	}
}
