package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/go-json-experiment/json"

	"signalbox/internal/engine"
	"signalbox/internal/workflow"
)

// memory keeps runs and locks in memory. It implements enginetest.Project.
type memory struct {
	mu    sync.Mutex
	runs  map[workflow.RunRef][]byte
	epoch map[string]int64
	locks map[string]*memoryLock
	// watches are signaled at every change.
	watches map[chan struct{}]bool
}

func newMemory() *memory {
	return &memory{runs: map[workflow.RunRef][]byte{}, epoch: map[string]int64{}, locks: map[string]*memoryLock{}, watches: map[chan struct{}]bool{}}
}

func (m *memory) CreateRun(_ context.Context, run *workflow.Run) error {
	data, err := json.Marshal(run)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(workflow.RefOf(run), data)
	return nil
}

// put replaces a run's document. m.mu is held.
func (m *memory) put(ref workflow.RunRef, data []byte) {
	m.runs[ref] = data
	m.signal()
}

func (m *memory) signal() {
	for watch := range m.watches {
		select {
		case watch <- struct{}{}:
		default:
		}
	}
}

func (m *memory) LoadRun(_ context.Context, ref workflow.RunRef) (workflow.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.load(ref)
}

func (m *memory) load(ref workflow.RunRef) (run workflow.Run, err error) {
	data, ok := m.runs[ref]
	if !ok {
		return run, fmt.Errorf("run %s: %w", ref, fs.ErrNotExist)
	}
	return run, json.Unmarshal(data, &run)
}

func (m *memory) Signal(_ context.Context, ref workflow.RunRef, change func(*workflow.Signals) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	run, err := m.load(ref)
	if err == nil {
		err = change(&run.Signals)
	}
	if err != nil {
		return err
	}
	data, err := json.Marshal(run)
	if err == nil {
		m.put(ref, data)
	}
	return err
}

func (m *memory) OpenRun(ctx context.Context, ref workflow.RunRef) (engine.Writer, workflow.Run, error) {
	run, err := m.LoadRun(ctx, ref)
	if err != nil {
		return nil, run, err
	}
	return &memoryWriter{of: m, ref: ref, seen: run.Signals.Clone()}, run, nil
}

func (m *memory) WatchRun(ctx context.Context, _ workflow.RunRef) (<-chan struct{}, error) {
	return m.watch(ctx), nil
}

func (m *memory) WatchSlots(ctx context.Context) (<-chan struct{}, error) { return m.watch(ctx), nil }

func (m *memory) watch(ctx context.Context) <-chan struct{} {
	watch := make(chan struct{}, 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watches[watch] = true
	context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watches, watch)
		close(watch)
	})
	return watch
}

type memoryWriter struct {
	of   *memory
	ref  workflow.RunRef
	seen workflow.Signals
}

func (w *memoryWriter) Save(_ context.Context, run *workflow.Run, _ workflow.EventName) error {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	saved, err := w.of.load(w.ref)
	if err != nil {
		return err
	}
	if saved.Details.Epoch > run.Details.Epoch {
		return engine.ErrFenced
	}
	run.Signals = workflow.MergeSignals(w.seen, run.Signals, saved.Signals)
	data, err := json.Marshal(run)
	if err == nil {
		w.seen = run.Signals.Clone()
		w.of.put(w.ref, data)
	}
	return err
}

func (w *memoryWriter) Refresh(ctx context.Context, run *workflow.Run) (bool, error) {
	saved, err := w.of.LoadRun(ctx, w.ref)
	if err != nil {
		return false, err
	}
	run.Signals = workflow.MergeSignals(w.seen, run.Signals, saved.Signals)
	w.seen = saved.Signals
	return true, nil
}

func (w *memoryWriter) Rest() {}

func (w *memoryWriter) Close() error { return nil }

type memoryLock struct {
	of    *memory
	name  string
	owner string
	epoch int64
	lost  chan struct{}
}

func (m *memory) take(name string, owner engine.Owner) (*memoryLock, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if held := m.locks[name]; held != nil {
		return nil, held.owner
	}
	m.epoch[name] = max(m.epoch[name], owner.AfterEpoch) + 1
	lock := &memoryLock{m, name, owner.Name, m.epoch[name], make(chan struct{})}
	m.locks[name] = lock
	return lock, ""
}

func (m *memory) LockRequest(_ context.Context, requestID string, owner engine.Owner) (engine.Lock, error) {
	lock, by := m.take(requestID, owner)
	if lock == nil {
		return nil, fmt.Errorf("%w by %s", engine.ErrHeld, by)
	}
	return lock, nil
}

func (m *memory) TakeSlot(_ context.Context, slots int, owner engine.Owner) (engine.Lock, []string, error) {
	var holders []string
	for i := range slots {
		lock, by := m.take(fmt.Sprintf("slot-%d", i), owner)
		if lock != nil {
			return lock, nil, nil
		}
		holders = append(holders, by)
	}
	return nil, holders, nil
}

func (l *memoryLock) Epoch() int64          { return l.epoch }
func (l *memoryLock) Lost() <-chan struct{} { return l.lost }
func (l *memoryLock) Rest()                 {}
func (l *memoryLock) View() workflow.Lock   { return workflow.Lock{Path: l.name, Held: true} }

func (l *memoryLock) Wake(context.Context) error { return nil }

func (l *memoryLock) Release() error {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	if l.of.locks[l.name] != l {
		return errors.New("released twice")
	}
	delete(l.of.locks, l.name)
	l.of.signal()
	return nil
}
