package store

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"signalbox/internal/health"
	"signalbox/internal/store/strict"
	"signalbox/internal/workflow"
)

func addOne(h *health.State) error { h.RunCount++; return nil }

func TestUpdatesAtTheSameTimeAreAllThere(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := s.Health().Update(t.Context(), addOne); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if h, err := s.Health().Load(t.Context()); err != nil || h.RunCount != 20 {
		t.Errorf("%d of 20 updates are there, %v", h.RunCount, err)
	}
}

func TestAChangeThatFailsHasNoEffect(t *testing.T) {
	t.Parallel()
	wrong, check := errors.New("wrong"), (*workflow.InvalidError)(nil)
	s := openStore(t)
	for range 2 { // of a document that is not there yet, and of one that is
		for name, c := range map[string]struct {
			change func(h *health.State) error
			is     func(error) bool
		}{
			"an error":  {func(h *health.State) error { h.RunCount = 100; return wrong }, func(err error) bool { return errors.Is(err, wrong) }},
			"invalid":   {func(h *health.State) error { h.RunCount = -1; return nil }, func(err error) bool { return errors.As(err, &check) }},
			"too large": {func(h *health.State) error { h.LastErrorSummary = strings.Repeat("x", strict.MaxSize); return nil }, func(err error) bool { return errors.Is(err, ErrWrite) }},
		} {
			if err := s.Health().Update(t.Context(), c.change); !c.is(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := s.Health().Update(t.Context(), addOne); err != nil {
			t.Fatal(err)
		}
	}
	if h, err := s.Health().Load(t.Context()); err != nil || h.RunCount != 2 || h.LastErrorSummary != "" {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestAnUpdateWhoseCallerLeavesWhileItWaitsIsNotApplied(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	held := &fileLock{folder: s.locks, name: s.Health().lock, perm: privateFile} // as another program holds it
	if err := held.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { left <- s.Health().Update(ctx, addOne) }()
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	held.close()
	if err := s.Health().Update(t.Context(), addOne); err != nil {
		t.Fatal(err)
	}
	if h, err := s.Health().Load(t.Context()); err != nil || h.RunCount != 1 {
		t.Errorf("%d updates are there, %v", h.RunCount, err)
	}
}

func TestAChangeThatDoesNotReturnFreesTheDocument(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	var gone sync.WaitGroup
	gone.Go(func() {
		_ = s.Health().Update(t.Context(), func(h *health.State) error { h.RunCount = 100; runtime.Goexit(); return nil })
	})
	gone.Wait()
	if err := s.Health().Update(t.Context(), addOne); err != nil {
		t.Fatal(err)
	}
	if h, err := s.Health().Load(t.Context()); err != nil || h.RunCount != 1 {
		t.Errorf("%d updates are there, %v", h.RunCount, err)
	}
}
