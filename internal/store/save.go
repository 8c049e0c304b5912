package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"signalbox/internal/engine"
	"signalbox/internal/workflow"
)

// Save makes run the content of stage.json: durable when Save returns, or not
// there at all. Signals and unknown keys that others wrote meanwhile are taken
// over, into *run too. event is what moved the run. After ErrWrite and
// engine.ErrFenced the writer is of no more use.
func (w *RunWriter) Save(ctx context.Context, run *workflow.Run, event workflow.EventName) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	if err := w.wake(ctx); err != nil {
		return fmt.Errorf("open run %s: %w", w.ref, err)
	}
	if err := w.lock.acquire(ctx); err != nil {
		return fmt.Errorf("lock run %s: %w", w.ref, err)
	}
	err := w.save(run, event)
	if errors.Is(err, ErrWrite) || errors.Is(err, engine.ErrFenced) {
		w.failed = err
	}
	return errors.Join(err, w.lock.release())
}

func (w *RunWriter) save(run *workflow.Run, event workflow.EventName) error {
	if err := w.lookAgain(); err != nil {
		return err
	}
	if w.epoch > run.Details.Epoch {
		return fmt.Errorf("save run %s under epoch %d, on disk is %d: %w", w.ref, run.Details.Epoch, w.epoch, engine.ErrFenced)
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
	at, err := w.folder.stat(planFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there is none yet
	}
	if err != nil {
		return err
	}
	if w.plan == nil || at != w.planAt { // read again only when it is another file
		_, plan, err := w.store.Plan(w.ref).read(w.folder)
		if err != nil {
			return err
		}
		w.plan, w.planAt = &plan, at
	}
	if err := run.FollowsPlan(*w.plan); err != nil {
		return fmt.Errorf("%w: %w", ErrPlanChanged, err)
	}
	return nil
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
	w.state, w.epoch, w.seen, w.theirs = run.State, run.Details.Epoch, run.Signals.Clone(), nil
	return nil
}
