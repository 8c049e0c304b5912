// Package watch shares one inotify instance among any number of subscriptions to
// folders, and polls the folders for which the kernel has no watch left. It reports
// that something may have changed, never how: the reader looks.
package watch

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// The kernel gives a user 128 inotify instances, for all programs together, and a limited number of
// watches. So a Store has one instance for all its subscriptions; while the kernel has none left,
// the hub polls.
const (
	// PollEvery is short enough for "signalbox stop", which promises to act within a second.
	PollEvery = 250 * time.Millisecond
	// returnEvery is the number of polls between two attempts to watch again.
	returnEvery = 40
)

// Hub shares one watcher among the subscriptions of a Store. It has no watcher and no goroutine
// while nothing is watched.
type Hub struct {
	Log   *slog.Logger
	Every time.Duration // PollEvery, except in tests

	mu      sync.Mutex
	watcher *fsnotify.Watcher
	// folders are the subscriptions of each watched folder, by its absolute path. The kernel watches
	// a folder once, however many there are.
	folders map[string]map[*Subscription]bool
	// polled are the subscriptions with a folder that can't be watched now; stop ends the polling.
	polled map[*Subscription]bool
	stop   chan struct{}
}

// Subscription is one reader's interest in some folders.
type Subscription struct {
	// Concerns reports whether an event is of interest.
	Concerns func(fsnotify.Event) bool
	// folders are absolute paths.
	folders map[string]bool
	// Signal reports that something changed: the files in names, or perhaps any file if all is set.
	Signal chan struct{}
	// Collects: the reader wants names. all: events may have been lost.
	Collects bool
	names    map[string]bool
	all      bool
}

// Subscribe starts a subscription without folders. It ends with ctx or cancel, which close its Signal.
func (h *Hub) Subscribe(ctx context.Context, sub *Subscription) (cancel func()) {
	sub.folders, sub.names, sub.Signal = map[string]bool{}, map[string]bool{}, make(chan struct{}, 1)
	forget := context.AfterFunc(ctx, func() { h.leave(sub) })
	return func() {
		if forget() {
			h.leave(sub)
		}
	}
}

// Add adds a folder to a subscription. A folder that can't be watched is an error, unless only the
// kernel's resources are exhausted.
func (h *Hub) Add(sub *Subscription, folder string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if sub.folders == nil {
		return nil // it has ended
	}
	err := h.watch(folder)
	if err != nil && !exhausted(err) {
		return err
	}
	sub.folders[folder] = true
	if h.folders[folder] == nil {
		if h.folders == nil {
			h.folders, h.polled = map[string]map[*Subscription]bool{}, map[*Subscription]bool{}
		}
		h.folders[folder] = map[*Subscription]bool{}
	}
	h.folders[folder][sub] = true
	if err == nil {
		return nil
	}
	if len(h.polled) == 0 {
		h.Log.Warn("files can't be watched now and are polled instead", "every", h.Every, "err", err)
		h.stop = make(chan struct{})
		go h.pollUntil(h.stop)
	}
	h.polled[sub] = true
	return nil
}

// watch has the kernel watch a folder, even one that is watched: another folder may have taken its name.
func (h *Hub) watch(folder string) error {
	if h.watcher == nil {
		watcher, err := fsnotify.NewWatcher()
		if err != nil {
			return err
		}
		h.watcher = watcher
		go h.forward(watcher)
	}
	return h.watcher.Add(folder)
}

// State reports how many folders are watched, whether the kernel watches any, and whether any is polled.
func (h *Hub) State() (folders int, watching, polling bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.folders), h.watcher != nil, len(h.polled) > 0
}

// exhausted reports whether the kernel has no inotify instance (EMFILE), file (ENFILE) or watch (ENOSPC) left.
func exhausted(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOSPC)
}

func (h *Hub) pollUntil(stop <-chan struct{}) {
	ticker := time.NewTicker(h.Every)
	defer ticker.Stop()
	for polls := 1; ; polls++ {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		h.mu.Lock()
		for sub := range h.polled {
			sub.lost()
		}
		if polls%returnEvery == 0 {
			h.tryToWatch()
		}
		h.mu.Unlock()
	}
}

// tryToWatch ends the polling of each subscription whose folders can all be watched again.
func (h *Hub) tryToWatch() {
	for sub := range h.polled {
		for folder := range sub.folders {
			if exhausted(h.watch(folder)) {
				return
			}
		}
		sub.lost() // what happened since the last poll
		h.endPolling(sub, false)
	}
}

// endPolling removes a subscription from the polled ones.
func (h *Hub) endPolling(sub *Subscription, ended bool) {
	if !h.polled[sub] {
		return
	}
	delete(h.polled, sub)
	if len(h.polled) == 0 {
		close(h.stop)
		if !ended {
			h.Log.Warn("files are watched again")
		}
	}
}

// leave ends a subscription, and the watcher with the last one.
func (h *Hub) leave(sub *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for folder := range sub.folders {
		delete(h.folders[folder], sub)
		if len(h.folders[folder]) == 0 {
			delete(h.folders, folder)
			if h.watcher != nil {
				_ = h.watcher.Remove(folder) // it may not exist any more, or was never watched
			}
		}
	}
	h.endPolling(sub, true)
	sub.folders = nil
	close(sub.Signal)
	if len(h.folders) == 0 && h.watcher != nil {
		_ = h.watcher.Close()
		h.watcher = nil
	}
}

// forward passes a watcher's events on to the subscriptions, until the watcher is closed.
func (h *Hub) forward(watcher *fsnotify.Watcher) {
	for {
		select {
		case event, ok := <-watcher.Events:
			if !ok {
				return
			}
			h.report(event)
		case _, ok := <-watcher.Errors:
			// An overflow, most likely: the lost events may have concerned any subscription.
			if !ok {
				return
			}
			h.mu.Lock()
			for _, subs := range h.folders {
				for sub := range subs {
					sub.lost()
				}
			}
			h.mu.Unlock()
		}
	}
}

func (h *Hub) report(event fsnotify.Event) {
	if event.Op == fsnotify.Chmod || strings.HasPrefix(filepath.Base(event.Name), ".tmp-") {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	// An event about the folder itself has the folder's name.
	for _, folder := range []string{filepath.Dir(event.Name), event.Name} {
		for sub := range h.folders[folder] {
			if sub.Concerns(event) {
				sub.happened(event.Name)
			}
		}
	}
}

func (s *Subscription) happened(name string) {
	if s.Collects {
		s.names[name] = true
	}
	select {
	case s.Signal <- struct{}{}:
	default:
	}
}

func (s *Subscription) lost() {
	s.all = true
	s.happened("")
}

// Take returns the names that changed since the last call, or reports that any may have changed.
func (h *Hub) Take(sub *Subscription) (names []string, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name := range sub.names {
		if name != "" {
			names = append(names, name)
		}
	}
	all = sub.all
	sub.names, sub.all = map[string]bool{}, false
	return names, all
}
