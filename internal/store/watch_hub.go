package store

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The kernel gives a user 128 inotify instances, for all programs together, and a limited number of
// watches. So a Store has one instance, whatever the number of its subscriptions; and where the
// kernel has none left, those that could not be watched are polled until it has.
const (
	// pollEvery is short enough for "signalbox stop", which promises a second.
	pollEvery = 250 * time.Millisecond
	// returnEvery is how many polls pass between two attempts to watch again.
	returnEvery = 40
)

// hub shares one watcher among the subscriptions of a Store. It has no watcher and no goroutine
// while nothing is watched.
type hub struct {
	store *Store
	every time.Duration // pollEvery

	mu      sync.Mutex
	watcher *fsnotify.Watcher
	// folders are the subscriptions of each watched folder, by its absolute path. The kernel watches
	// a folder once, however many there are.
	folders map[string]map[*subscription]bool
	// polled are those with a folder that cannot be watched now; stop ends the polling.
	polled map[*subscription]bool
	stop   chan struct{}
}

// subscription is one party's interest in some folders.
type subscription struct {
	// concerns says whether an event is of interest.
	concerns func(fsnotify.Event) bool
	// folders are absolute paths.
	folders map[string]bool
	// signal says that something changed; what it was is in names, unless all may have.
	signal chan struct{}
	// collects: names are wanted. all: events may have been lost.
	collects bool
	names    map[string]bool
	all      bool
}

// subscribe begins a subscription without folders, which ends with ctx or by cancel; its signal is closed then.
func (h *hub) subscribe(ctx context.Context, sub *subscription) (cancel func()) {
	sub.folders, sub.names, sub.signal = map[string]bool{}, map[string]bool{}, make(chan struct{}, 1)
	forget := context.AfterFunc(ctx, func() { h.leave(sub) })
	return func() {
		if forget() {
			h.leave(sub)
		}
	}
}

// add has a subscription told about what happens in a folder from now on. A folder that cannot be
// watched for want of anything but the kernel's means is an error.
func (h *hub) add(sub *subscription, folder string) error {
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
			h.folders, h.polled = map[string]map[*subscription]bool{}, map[*subscription]bool{}
		}
		h.folders[folder] = map[*subscription]bool{}
	}
	h.folders[folder][sub] = true
	if err != nil {
		h.poll(sub, err)
	}
	return nil
}

// watch has the kernel watch a folder: also one that is watched, for it may be another folder under the same name.
func (h *hub) watch(folder string) error {
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

// Watched says why the kernel would not tell of changes now, so that files are polled; nil if it would.
func (s *Store) Watched() error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	return errors.Join(watcher.Add(s.root.Name()), watcher.Close())
}

// exhausted reports whether the kernel has no instance, descriptor or watch left.
func exhausted(err error) bool { return isAny(err, exhaustion...) }

// poll begins to poll for a subscription that cannot be watched.
func (h *hub) poll(sub *subscription, why error) {
	if len(h.polled) == 0 {
		h.store.log.Warn("files cannot be watched for now and are looked at again and again instead", "every", h.every, "err", why)
		h.stop = make(chan struct{})
		go h.pollUntil(h.stop)
	}
	h.polled[sub] = true
}

func (h *hub) pollUntil(stop <-chan struct{}) {
	ticker := time.NewTicker(h.every)
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
func (h *hub) tryToWatch() {
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
func (h *hub) polls(sub *subscription, ended bool) {
	if !h.polled[sub] {
		return
	}
	delete(h.polled, sub)
	if len(h.polled) == 0 {
		close(h.stop)
		if !ended {
			h.store.log.Warn("files are watched again")
		}
	}
}

// leave ends a subscription, and the watcher with the last one.
func (h *hub) leave(sub *subscription) {
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
	close(sub.signal)
	if len(h.folders) == 0 && h.watcher != nil {
		_ = h.watcher.Close()
		h.watcher = nil
	}
}

// forward tells the subscriptions what a watcher tells, until it is closed.
func (h *hub) forward(watcher *fsnotify.Watcher) {
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

func (h *hub) tell(event fsnotify.Event) {
	if event.Op == fsnotify.Chmod || strings.HasPrefix(filepath.Base(event.Name), ".tmp-") {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	// What happens to a folder itself is told under its own name.
	for _, folder := range []string{filepath.Dir(event.Name), event.Name} {
		for sub := range h.folders[folder] {
			if sub.concerns(event) {
				sub.happened(event.Name)
			}
		}
	}
}

func (s *subscription) happened(name string) {
	if s.collects {
		s.names[name] = true
	}
	select {
	case s.signal <- struct{}{}:
	default:
	}
}

func (s *subscription) lost() {
	s.all = true
	s.happened("")
}

// take returns what happened since it was last asked, or that anything may have.
func (h *hub) take(sub *subscription) (names []string, all bool) {
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

func isAny(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
