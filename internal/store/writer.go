package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/flock"
	"signalbox/internal/workflow"
)

// RunWriter saves a run for its runner. Between two saves it keeps the folder, the
// lock file and the last stage.json open, so that a transition costs little more
// than its flushes. Each run has at most one, that of the request lock's holder.
type RunWriter struct {
	store  *Store
	ref    workflow.RunRef
	folder *folder
	lock   *fileLock
	events *os.File

	mu sync.Mutex
	// current is stage.json as last read or written. It stays open: the kernel can't reuse its
	// inode before it is closed, so that no other file is mistaken for it.
	current *os.File
	at      identity
	// state and epoch are those of the last known stage.json.
	state workflow.State
	epoch int64
	// seen are the signals that the runner knows.
	seen workflow.Signals
	// theirs is what another process wrote since our last save; nil if none did.
	theirs *workflow.Run
	plan   *workflow.Plan
	planAt identity
	// failed is why a save could not be made durable. The kernel may have dropped what it could
	// not write, so no later success on these descriptors would prove anything.
	failed error
}

// OpenRun opens a run for its runner, who holds the request's lock, and cleans up
// after a crash: temporary files and the last line of events.jsonl.
func (s *Store) OpenRun(ctx context.Context, ref workflow.RunRef) (engine.Writer, workflow.Run, error) {
	if err := validateRun(ref); err != nil {
		return nil, workflow.Run{}, err
	}
	dir, err := s.openFolder(RunDir(ref))
	if err != nil {
		return nil, workflow.Run{}, err
	}
	if err := guard(ctx, dir); err != nil {
		dir.close()
		return nil, workflow.Run{}, fmt.Errorf("open run %s: %w", ref, err)
	}
	w := &RunWriter{store: s, ref: ref, folder: dir, lock: &fileLock{folder: dir, name: runLock, perm: publicFile}}
	run, err := w.open(ctx)
	if err != nil {
		return nil, run, errors.Join(err, w.Close())
	}
	return w, run, nil
}

func (w *RunWriter) open(ctx context.Context) (run workflow.Run, err error) {
	if err := w.lock.acquire(ctx); err != nil {
		return run, fmt.Errorf("lock run %s: %w", w.ref, err)
	}
	defer func() { _ = w.lock.release() }()
	for _, dir := range []string{w.folder.path, w.folder.join(patchesDir)} {
		if err := w.store.sweep(dir); err != nil {
			return run, err
		}
	}
	if err := w.lookAgain(); err != nil {
		return run, err
	}
	run = *w.theirs
	w.theirs, w.seen = nil, run.Signals.Clone()
	if w.events, _, err = w.folder.openRegular(eventsFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, publicFile); err != nil {
		return run, err
	}
	last, err := w.repairEvents()
	if err != nil {
		return run, fmt.Errorf("repair %s: %w", w.folder.join(eventsFile), err)
	}
	if last < run.Details.Transition { // a crash between the two writes of a transition left its line out
		err = w.append(transitionOf(&run, workflow.EventRecovered))
	}
	return run, err
}

// Close closes the writer's descriptors.
func (w *RunWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest()
	return nil
}

// guard locks the run's folder for as long as it is open. The request's lock does so already, unless a person removed
// its file: a process that made another one would take over a run whose agent is at work. A child that a killed process
// has forked but not yet started may hold the folder a moment longer.
func guard(ctx context.Context, dir *folder) error {
	for range takeAttempts {
		if got, err := flock.Try(dir.dir); got || err != nil {
			return err
		}
		select {
		case <-time.After(takePause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &HeldError{LockRecord{Owner: "a process whose lock file was removed"}}
}

// Rest closes what the writer keeps open; the next Save or Refresh opens it again. A thousand waiting runs
// would otherwise use up the descriptors.
func (w *RunWriter) Rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.rest()
	}
}

func (w *RunWriter) rest() {
	if w.folder == nil {
		return
	}
	w.lock.close()
	_ = flock.Free(w.folder.dir) // also from a child between its fork and its exec
	w.folder.close()
	for _, file := range []*os.File{w.current, w.events} {
		if file != nil {
			_ = file.Close()
		}
	}
	w.folder, w.lock, w.current, w.events = nil, nil, nil, nil
}

// wake opens what Rest closed.
func (w *RunWriter) wake(ctx context.Context) error {
	if w.folder != nil {
		return nil
	}
	dir, err := w.store.openFolder(RunDir(w.ref))
	if err != nil {
		return err
	}
	if err := guard(ctx, dir); err != nil {
		dir.close()
		return errors.Join(ErrLockLost, err)
	}
	events, _, err := dir.openRegular(eventsFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, publicFile)
	if err != nil {
		dir.close()
		return err
	}
	w.folder, w.lock, w.events = dir, &fileLock{folder: dir, name: runLock, perm: publicFile}, events
	return nil
}

// lookAgain reads stage.json if another file has replaced the known one.
func (w *RunWriter) lookAgain() error {
	at, err := w.folder.stat(stageFile)
	if err != nil {
		return err
	}
	if w.current != nil && at == w.at {
		return nil
	}
	file, data, at, err := w.folder.readOpen(stageFile)
	if err != nil {
		return err
	}
	doc := w.store.Stage(w.ref)
	theirs, err := doc.parse(data)
	if err != nil {
		return errors.Join(broken(doc.Path(), data, err), file.Close())
	}
	w.keep(file, at)
	w.theirs, w.state, w.epoch = &theirs, theirs.State, theirs.Details.Epoch
	return nil
}

func (w *RunWriter) keep(file *os.File, at identity) {
	if w.current != nil {
		_ = w.current.Close()
	}
	w.current, w.at = file, at
}

// Refresh adopts into run what others wrote (signals and unknown keys) without
// saving, and reports whether there was anything. It costs one stat if not.
func (w *RunWriter) Refresh(ctx context.Context, run *workflow.Run) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := errors.Join(w.failed, ctx.Err()); err != nil {
		return false, err
	}
	if err := w.wake(ctx); err != nil {
		return false, err
	}
	if err := w.lookAgain(); err != nil || w.theirs == nil {
		return false, err
	}
	next, err := w.merge(run)
	if err != nil {
		return false, err
	}
	*run, w.seen = next, w.theirs.Signals.Clone()
	return true, nil
}
