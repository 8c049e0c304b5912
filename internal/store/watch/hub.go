// Package watch shares one inotify instance among any number of subscriptions to
// folders, and polls for those that the kernel has no watch left for. It tells
// that something may have changed, and never what: a reader looks.
package watch

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// The kernel gives a user 128 inotify instances, for all programs together, and a limited number of
// watches. So a Store has one instance, whatever the number of its subscriptions; and where the
// kernel has none left, those that could not be watched are polled until it has.
const (
	// PollEvery is short enough for "signalbox stop", which promises a second.
	PollEvery = 250 * time.Millisecond
	// returnEvery is how many polls pass between two attempts to watch again.
	returnEvery = 40
)

// Hub shares one watcher among the subscriptions of a Store. It has no watcher and no goroutine
// while nothing is watched.
type Hub struct {
	Log   *slog.Logger
	Every time.Duration // pollEvery

	mu      sync.Mutex
	watcher *fsnotify.Watcher
	// folders are the subscriptions of each watched folder, by its absolute path. The kernel watches
	// a folder once, however many there are.
	folders map[string]map[*Subscription]bool
	// polled are those with a folder that cannot be watched now; stop ends the polling.
	polled map[*Subscription]bool
	stop   chan struct{}
}

// Subscription is one party's interest in some folders.
type Subscription struct {
	// Concerns says whether an event is of interest.
	Concerns func(fsnotify.Event) bool
	// folders are absolute paths.
	folders map[string]bool
	// Signal says that something changed; what it was is in names, unless all may have.
	Signal chan struct{}
	// Collects: names are wanted. all: events may have been lost.
	Collects bool
	names    map[string]bool
	all      bool
}

// Subscribe begins a subscription without folders, which ends with ctx or by cancel; its signal is closed then.
func (h *Hub) Subscribe(ctx context.Context, sub *Subscription) (cancel func()) {
	sub.folders, sub.names, sub.Signal = map[string]bool{}, map[string]bool{}, make(chan struct{}, 1)
	forget := context.AfterFunc(ctx, func() { h.leave(sub) })
	return func() {
		if forget() {
			h.leave(sub)
		}
	}
}

// Add has a subscription told about what happens in a folder from now on. A folder that cannot be
// watched for want of anything but the kernel's means is an error.
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
		h.Log.Warn("files cannot be watched for now and are looked at again and again instead", "every", h.Every, "err", err)
		h.stop = make(chan struct{})
		go h.pollUntil(h.stop)
	}
	h.polled[sub] = true
	return nil
}

// watch has the kernel watch a folder: also one that is watched, for it may be another folder under the same name.
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

// Try says why the kernel would not tell of changes of a folder now, so that it is polled; nil if it would.
func Try(folder string) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	return errors.Join(watcher.Add(folder), watcher.Close())
}

// State reports how many folders are watched, whether by the kernel, and whether any is polled.
func (h *Hub) State() (folders int, watching, polling bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.folders), h.watcher != nil, len(h.polled) > 0
}

// exhaustion is what the kernel says when it has no inotify instance (EMFILE), file (ENFILE), or watch
// (ENOSPC) left to give.
var exhaustion = []error{unix.EMFILE, unix.ENFILE, unix.ENOSPC}

// exhausted reports whether the kernel has no instance, descriptor or watch left.
func exhausted(err error) bool {
	return slices.ContainsFunc(exhaustion, func(target error) bool { return errors.Is(err, target) })
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

// tryToWatch ends the polling for those all of whose folders can be watched again.
func (h *Hub) tryToWatch() {
	for sub := range h.polled {
		for folder := range sub.folders {
			if exhausted(h.watch(folder)) {
				return
			}
		}
		sub.lost() // what happened since the last poll
		h.polls(sub, false)
	}
}

// polls takes a subscription out of those that are polled.
func (h *Hub) polls(sub *Subscription, ended bool) {
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
				_ = h.watcher.Remove(folder) // it may be gone, or was never watched
			}
		}
	}
	h.polls(sub, true)
	sub.folders = nil
	close(sub.Signal)
	if len(h.folders) == 0 && h.watcher != nil {
		_ = h.watcher.Close()
		h.watcher = nil
	}
}

// forward tells the subscriptions what a watcher tells, until it is closed.
func (h *Hub) forward(watcher *fsnotify.Watcher) {
	for {
		select {
		case event, ok := <-watcher.Events:
			if !ok {
				return
			}
			h.tell(event)
		case _, ok := <-watcher.Errors:
			// An overflow, most likely: events were lost, and any of them may have been anyone's.
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

func (h *Hub) tell(event fsnotify.Event) {
	if event.Op == fsnotify.Chmod || strings.HasPrefix(filepath.Base(event.Name), ".tmp-") {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	// What happens to a folder itself is told under its own name.
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

// Take returns what happened since it was last asked, or that anything may have.
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
