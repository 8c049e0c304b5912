package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"signalbox/internal/workflow"
)

// RunWriter is the runner's way to save its run. Between two saves it keeps the
// folder, the lock file and the last stage.json open, so that a transition costs
// little more than the flushes it needs. There is one per run at a time: who
// holds the request's lock.
type RunWriter struct {
	store  *Store
	ref    RunRef
	folder *folder
	lock   *fileLock
	events *os.File

	mu sync.Mutex
	// current is stage.json as last read or written. It stays open: its inode is not used again
	// before it is closed, so that another file can never be taken for it.
	current *os.File
	at      identity
	// state and epoch are those of the last known stage.json.
	state workflow.State
	epoch int64
	// seen are the signals that the runner knows of.
	seen workflow.Signals
	// theirs is what somebody else wrote since our last save; nil if nobody did.
	theirs *workflow.Run
	plan   *workflow.Plan
	planAt identity
	// failed is why a save could not be made durable. The kernel may have dropped what it could
	// not write, so that no later success on these descriptors would prove anything.
	failed error
}

// OpenRun opens a run for its runner, who holds the request's lock, and mends
// what a crash left: temporary files and the last line of events.jsonl.
func (s *Store) OpenRun(ctx context.Context, ref RunRef) (*RunWriter, workflow.Run, error) {
	if err := ref.Validate(); err != nil {
		return nil, workflow.Run{}, err
	}
	dir, err := s.openFolder(ref.Dir())
	if err != nil {
		return nil, workflow.Run{}, err
	}
	w := &RunWriter{store: s, ref: ref, folder: dir, lock: &fileLock{folder: dir, name: runLock, perm: publicFile}}
	run, err := w.open(ctx)
	if err != nil {
		return nil, run, errors.Join(err, w.Close())
	}
	return w, run, nil
}

func (w *RunWriter) open(ctx context.Context) (workflow.Run, error) {
	if err := w.lock.acquire(ctx); err != nil {
		return workflow.Run{}, fmt.Errorf("lock run %s: %w", w.ref, err)
	}
	defer func() { _ = w.lock.release() }()
	for _, dir := range []string{w.folder.path, w.folder.join(patchesDir)} {
		if err := w.store.sweep(dir); err != nil {
			return workflow.Run{}, err
		}
	}
	if err := w.lookAgain(); err != nil {
		return workflow.Run{}, err
	}
	run := *w.theirs
	w.theirs, w.seen = nil, cloneSignals(run.Signals)
	return run, w.openEvents(&run)
}

// Close gives the writer's descriptors back.
func (w *RunWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lock.close()
	w.folder.close()
	for _, file := range []*os.File{w.current, w.events} {
		if file != nil {
			_ = file.Close()
		}
	}
	return nil
}

// lookAgain reads stage.json if it is not the file that we know.
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
	w.theirs, w.state, w.epoch = &theirs, theirs.State, theirs.Journey.Epoch
	return nil
}

func (w *RunWriter) keep(file *os.File, at identity) {
	if w.current != nil {
		_ = w.current.Close()
	}
	w.current, w.at = file, at
}

// Refresh takes over into run what others wrote (signals, and keys that we have
// no word for) without saving, and reports whether there was anything. It costs
// one stat if not.
func (w *RunWriter) Refresh(ctx context.Context, run *workflow.Run) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := errors.Join(w.failed, ctx.Err()); err != nil {
		return false, err
	}
	if err := w.lookAgain(); err != nil || w.theirs == nil {
		return false, err
	}
	next, err := w.merge(run)
	if err != nil {
		return false, err
	}
	*run, w.seen = next, cloneSignals(w.theirs.Signals)
	return true, nil
}

// Save makes run the content of stage.json: durable when Save returns, or not
// there at all. Signals and unknown keys that others wrote meanwhile are taken
// over, into *run too. Of event the caller gives what the run does not say
// itself: Event, and Message if the progress message is not it. After ErrWrite
// and ErrFenced the writer is of no more use.
func (w *RunWriter) Save(ctx context.Context, run *workflow.Run, event Transition) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	if err := w.lock.acquire(ctx); err != nil {
		return fmt.Errorf("lock run %s: %w", w.ref, err)
	}
	err := w.save(run, event)
	if errors.Is(err, ErrWrite) || errors.Is(err, ErrFenced) {
		w.failed = err
	}
	return errors.Join(err, w.lock.release())
}

func (w *RunWriter) save(run *workflow.Run, event Transition) error {
	if err := w.lookAgain(); err != nil {
		return err
	}
	if w.epoch > run.Journey.Epoch {
		return fmt.Errorf("save run %s under epoch %d, on disk is %d: %w", w.ref, run.Journey.Epoch, w.epoch, ErrFenced)
	}
	next, err := w.merge(run)
	if err != nil {
		return err
	}
	if err := w.check(&next); err != nil {
		return fmt.Errorf("save run %s: %w", w.ref, err)
	}
	if err := w.write(&next); err != nil {
		return err
	}
	*run = next
	return w.append(transitionOf(run, event))
}

func (w *RunWriter) check(run *workflow.Run) error {
	if err := checkRun(w.ref, run); err != nil {
		return err
	}
	if !w.state.MayBecome(run.State) {
		return fmt.Errorf("state %s may not become %s", w.state, run.State)
	}
	if len(run.Steps) == 0 {
		return nil
	}
	plan, err := w.currentPlan()
	if err != nil || plan == nil {
		return err
	}
	return run.FollowsPlan(*plan)
}

// currentPlan is planning.json, nil if there is none yet; read again only when it is another file.
func (w *RunWriter) currentPlan() (*workflow.Plan, error) {
	at, err := w.folder.stat(planFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || w.plan != nil && at == w.planAt {
		return w.plan, err
	}
	_, plan, err := w.store.Plan(w.ref).read(w.folder)
	if err != nil {
		return nil, err
	}
	w.plan, w.planAt = &plan, at
	return w.plan, nil
}

func (w *RunWriter) write(run *workflow.Run) error {
	data, err := w.store.encode(run, indented)
	if err != nil {
		return writeError(w.folder.join(stageFile), err)
	}
	file, err := w.folder.replace(stageFile, data, publicFile)
	if err != nil {
		return err
	}
	// Asked of the descriptor, the answer is about our file even if it was replaced already.
	st, err := fstat(file)
	if err != nil {
		return writeError(w.folder.join(stageFile), errors.Join(err, file.Close()))
	}
	w.keep(file, identityOf(st))
	w.state, w.epoch, w.seen, w.theirs = run.State, run.Journey.Epoch, cloneSignals(run.Signals), nil
	return nil
}
