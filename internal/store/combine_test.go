package store

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/workflow"
)

// standstill holds the document's lock, as another process would, until the
// returned function is called.
func standstill(t *testing.T, s *Store, lock string) (release func()) {
	t.Helper()
	held := &fileLock{folder: s.locks, name: lock, perm: privateFile}
	if err := held.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(held.close)
	return held.close
}

// awaitQueue returns when n updates wait for the document.
func awaitQueue[T any](t *testing.T, d *Document[T], n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		is := 0
		d.waiting(func(q *queue[T]) { is = len(q.waiting) })
		if is == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d updates wait, want %d", is, n)
		}
	}
}

// updateTogether lets the changes wait for the document in their order, and
// returns the error of each.
func updateTogether(t *testing.T, s *Store, changes ...func(*workflow.Health) error) []error {
	t.Helper()
	return updateTogetherIn(t, s, s.Health(), changes...)
}

func updateTogetherIn(t *testing.T, s *Store, d *Document[workflow.Health], changes ...func(*workflow.Health) error) []error {
	t.Helper()
	release := standstill(t, s, d.lock)
	problems := make([]error, len(changes))
	var all sync.WaitGroup
	for i, change := range changes {
		all.Go(func() { problems[i] = d.Update(t.Context(), change) })
		awaitQueue(t, d, i+1)
	}
	release()
	all.Wait()
	return problems
}

func addOne(h *workflow.Health) error { h.RunCount++; return nil }

func TestUpdatesThatWaitForOneDocumentAreOneWrite(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	if err := s.Health().Update(t.Context(), addOne); err != nil {
		t.Fatal(err)
	}
	d, writes := s.Health(), 0
	d.ahead = func([]byte) error { writes++; return nil }
	for i, err := range updateTogetherIn(t, s, d, addOne, addOne, addOne, addOne) {
		if err != nil {
			t.Errorf("update %d: %v", i, err)
		}
	}
	if now := read(t, s, "state.json"); !strings.Contains(now, `"run_count": 5`) || writes != 1 {
		t.Errorf("%d writes: state.json %s", writes, now)
	}
	if len(s.updating.queues) != 0 {
		t.Errorf("queues remain: %v", s.updating.queues)
	}
}

func TestAChangeThatFailsHasNoEffectOnThoseBesideIt(t *testing.T) {
	t.Parallel()
	wrong := errors.New("wrong")
	failing := func(h *workflow.Health) error { h.RunCount, h.LastErrorID = 100, "spoiled"; return wrong }
	invalid := func(h *workflow.Health) error { h.RunCount, h.LastErrorID = -1, "spoiled"; return nil }
	tooLarge := func(h *workflow.Health) error { h.LastErrorSummary = strings.Repeat("x", maxDocument); return nil }
	for name, existing := range map[string]bool{"a document that is there": true, "a new document": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t)
			want := 3
			if existing {
				want++
				if err := s.Health().Update(t.Context(), addOne); err != nil {
					t.Fatal(err)
				}
			}
			problems := updateTogether(t, s, failing, addOne, invalid, addOne, tooLarge, failing, addOne)
			for i, err := range problems {
				var check *workflow.InvalidError
				switch i {
				case 0, 5:
					if !errors.Is(err, wrong) {
						t.Errorf("update %d: %v", i, err)
					}
				case 2:
					if !errors.As(err, &check) {
						t.Errorf("update %d: %v", i, err)
					}
				case 4:
					if !errors.Is(err, ErrWrite) {
						t.Errorf("update %d: %v", i, err)
					}
				default:
					if err != nil {
						t.Errorf("update %d: %v", i, err)
					}
				}
			}
			h, err := s.Health().Load(t.Context())
			if err != nil || h.RunCount != want || h.LastErrorID != "" || h.LastErrorSummary != "" {
				t.Errorf("%+v, %v", h, err)
			}
		})
	}
}

func TestEveryWaitingUpdateIsToldThatTheDocumentCannotBeRead(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	write(t, s, "state.json", "{")
	for i, err := range updateTogether(t, s, addOne, addOne, addOne) {
		if !errors.Is(err, ErrBroken) {
			t.Errorf("update %d: %v", i, err)
		}
	}
}

func TestAnUpdateWhoseCallerLeavesIsNotApplied(t *testing.T) {
	t.Parallel()
	for _, leaving := range []int{0, 1, 2} {
		t.Run("place "+strconv.Itoa(leaving), func(t *testing.T) {
			t.Parallel()
			s := openStore(t)
			d := s.Health()
			release := standstill(t, s, d.lock)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			problems, left := make([]error, 3), make(chan struct{})
			var all sync.WaitGroup
			for i := range problems {
				all.Go(func() {
					if i == leaving {
						problems[i] = d.Update(ctx, addOne)
						close(left)
						return
					}
					problems[i] = d.Update(t.Context(), addOne)
				})
				awaitQueue(t, d, i+1)
			}
			leave()
			<-left // although the lock is not free
			release()
			all.Wait()
			for i, err := range problems {
				if i == leaving != errors.Is(err, context.Canceled) || i != leaving && err != nil {
					t.Errorf("update %d: %v", i, err)
				}
			}
			if h, err := d.Load(t.Context()); err != nil || h.RunCount != 2 {
				t.Errorf("%d of 2 updates are there, %v", h.RunCount, err)
			}
		})
	}
}

func TestAnUpdateWhoseCallerLeavesDuringTheOneBeforeItIsNotApplied(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	d := s.Health()
	release := standstill(t, s, d.lock)
	ctx, leave := context.WithCancel(t.Context())
	var first, second error
	var both sync.WaitGroup
	both.Go(func() { first = d.Update(t.Context(), func(h *workflow.Health) error { leave(); return addOne(h) }) })
	awaitQueue(t, d, 1)
	both.Go(func() { second = d.Update(ctx, addOne) })
	awaitQueue(t, d, 2)
	release()
	both.Wait()
	if h, err := d.Load(t.Context()); first != nil || !errors.Is(second, context.Canceled) || err != nil || h.RunCount != 1 {
		t.Errorf("%v, %v; %d updates are there, %v", first, second, h.RunCount, err)
	}
}

func TestAnUpdateThatIsToLeadDoesNotLeaveTheOthersWithoutALeader(t *testing.T) {
	t.Parallel()
	d := openStore(t).Health()
	leader := &update[workflow.Health]{ready: make(chan struct{})}
	if !d.enqueue(leader) || d.withdraw(leader) {
		t.Error("the leader could leave without handing over")
	}
}

func TestALongChangeIsWrittenBeforeTheNextOneBegins(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	long := func(h *workflow.Health) error {
		for begun := time.Now(); time.Since(begun) <= longChange; runtime.Gosched() {
		}
		return addOne(h)
	}
	looking := func(h *workflow.Health) error {
		written, err := s.Health().Load(t.Context())
		if err == nil && written.RunCount != 1 {
			err = errors.New("the long change is not written")
		}
		return errors.Join(err, addOne(h))
	}
	for i, err := range updateTogether(t, s, long, looking, addOne) {
		if err != nil {
			t.Errorf("update %d: %v", i, err)
		}
	}
	if h, err := s.Health().Load(t.Context()); err != nil || h.RunCount != 3 {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestAChangeThatDoesNotReturnIsNoSuccessForAnybody(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	problems := updateTogether(t, s, addOne, func(*workflow.Health) error { runtime.Goexit(); return nil }, addOne)
	// The first one led: its goroutine is gone, and its error was never given.
	for i, err := range problems[1:] {
		if !errors.Is(err, errBrokenOff) {
			t.Errorf("update %d: %v", i+1, err)
		}
	}
	if _, err := s.Health().Load(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("written: %v", err)
	}
	if err := s.Health().Update(t.Context(), addOne); err != nil {
		t.Errorf("the next update: %v", err)
	}
}

func TestAnotherProgramGetsTheLockBetweenTwoBatches(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	other := openAt(t, Config{Root: s.path}) // its flock excludes as another process's does
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	defer busy.Wait()
	defer stop()
	for range 4 {
		busy.Go(func() {
			for ctx.Err() == nil {
				if err := s.Health().Update(ctx, addOne); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
		})
	}
	var longest time.Duration
	for range 20 {
		begun := time.Now()
		within, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if err := other.Health().Update(within, addOne); err != nil {
			t.Errorf("shut out: %v", err)
		}
		cancel()
		longest = max(longest, time.Since(begun))
	}
	t.Logf("the longest wait was %s", longest)
}
