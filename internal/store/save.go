package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/engine"
	"signalbox/internal/store/strict"
	"signalbox/internal/workflow"
)

// Save makes run the content of stage.json: durable when Save returns, or not
// written at all. It adopts signals and unknown keys that others wrote meanwhile,
// into *run too. event is what moved the run. After ErrWrite and engine.ErrFenced
// the writer is useless.
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
		return nil // no plan yet
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

// merge returns run with what others wrote since the last save.
func (w *RunWriter) merge(run *workflow.Run) (workflow.Run, error) {
	if w.theirs == nil {
		return *run, nil
	}
	// Copied through JSON, because other copies of run may share what it points at.
	data, err := json.Marshal(run, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return workflow.Run{}, writeError(w.folder.join(stageFile), err)
	}
	next, err := strict.Decode[workflow.Run](data, "")
	if err != nil {
		return workflow.Run{}, writeError(w.folder.join(stageFile), err)
	}
	adoptUnknown(reflect.ValueOf(&next), reflect.ValueOf(w.theirs))
	next.Signals = workflow.MergeSignals(w.seen, run.Signals, w.theirs.Signals)
	return next, nil
}

var unknownType = reflect.TypeFor[workflow.Unknown]()

// adoptUnknown gives mine the unknown keys of theirs on every level: they belong
// to other programs, which may add, change and remove them. Entries of two lists
// match by position.
func adoptUnknown(mine, theirs reflect.Value) {
	switch {
	case mine.Type() == unknownType:
		mine.Set(theirs)
	case mine.Kind() == reflect.Pointer && !mine.IsNil() && !theirs.IsNil():
		adoptUnknown(mine.Elem(), theirs.Elem())
	case mine.Kind() == reflect.Slice:
		for i := range min(mine.Len(), theirs.Len()) {
			adoptUnknown(mine.Index(i), theirs.Index(i))
		}
	case mine.Kind() == reflect.Struct:
		for i := range mine.NumField() {
			if field := mine.Field(i); field.CanSet() {
				adoptUnknown(field, theirs.Field(i))
			}
		}
	}
}
