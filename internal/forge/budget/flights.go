package budget

import (
	"context"
	"strconv"
	"sync"
)

// flights lets equal reads under way at the same time share one call. The zero value is ready.
//
// A read that began before a write ended may not show it. Whoever looks whether a write with a lost answer was performed must not
// get that: it would write again. So a read joins only one that began after the last write ended.
type flights struct {
	mu     sync.Mutex
	writes int
	byKey  map[string]*flight
}

type flight struct {
	done    chan struct{}
	answer  answer
	err     error
	waiting int
	cancel  context.CancelFunc
}

// written starts a new generation of reads.
func (f *flights) written() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
}

// do calls read, or joined, and waits for the one with the same key. The call ends with the last caller that waits for it.
func (f *flights) do(ctx context.Context, key string, joined func(), read func(context.Context) (answer, error)) (answer, error) {
	shared, key, first := f.board(ctx, key, read)
	if !first {
		joined()
	}
	select {
	case <-shared.done:
		return shared.answer, shared.err
	case <-ctx.Done():
		f.leave(key, shared)
		return answer{}, context.Cause(ctx)
	}
}

func (f *flights) board(ctx context.Context, key string, read func(context.Context) (answer, error)) (shared *flight, under string, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key += " " + strconv.Itoa(f.writes)
	if begun, ok := f.byKey[key]; ok {
		begun.waiting++
		return begun, key, false
	}
	if f.byKey == nil {
		f.byKey = map[string]*flight{}
	}
	detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
	begun := &flight{done: make(chan struct{}), waiting: 1, cancel: cancel}
	f.byKey[key] = begun
	go func() {
		defer cancel()
		begun.answer, begun.err = read(detached)
		f.land(key, begun)
	}()
	return begun, key, true
}

func (f *flights) land(key string, landed *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byKey[key] == landed {
		delete(f.byKey, key)
	}
	close(landed.done)
}

func (f *flights) leave(key string, left *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if left.waiting--; left.waiting == 0 {
		left.cancel()
		if f.byKey[key] == left {
			delete(f.byKey, key)
		}
	}
}
