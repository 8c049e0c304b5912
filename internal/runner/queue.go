package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// queuePoll is how often the queue is looked at without being told to: a
// holder that was killed frees its slot in silence.
const queuePoll = time.Second

// queue waits for a slot and admits the run. It answers false when an order
// ended the run before it was admitted.
func (w *work) queue(ctx context.Context) (admitted bool, err error) {
	place := w.line.join()
	defer w.line.leave(place)
	if front, err := w.comeToTheFront(ctx, place); err != nil || !front {
		return false, err
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	freed, err := w.Store.Watch(watch, ".signalbox/locks")
	if err != nil {
		return false, err
	}
	for {
		owner := store.Owner{Name: "run " + w.run.Ref(), RunID: w.ref.RunID}
		slot, holders, err := w.Store.TakeSlot(ctx, w.MaxParallel, owner)
		if err != nil && ctx.Err() == nil {
			return false, err
		}
		if slot != nil {
			return w.admit(ctx, slot)
		}
		if err := w.wait(ctx, freed, w.Clock.After(queuePoll), w.slotsHeldBy(holders)); err != nil || w.run.State.Ended() {
			return false, err
		}
	}
}

// comeToTheFront waits until the run is in front of the line. It keeps nothing open meanwhile but the
// request's lock.
func (w *work) comeToTheFront(ctx context.Context, place *place) (front bool, err error) {
	for {
		select {
		case <-place.turn:
			return true, nil
		default:
		}
		if err := w.wait(ctx, place.turn, nil, w.slots()+", behind other runs of this process"); err != nil || w.run.State.Ended() {
			return false, err
		}
	}
}

func (w *work) admit(ctx context.Context, slot *store.Lock) (bool, error) {
	w.slot = slot
	_, err := w.lookAtBranch(ctx)
	if err != nil || w.run.State.Ended() {
		w.logged("release slot", slot.Release())
		return false, err
	}
	admitted := workflow.Admitted{Request: w.request.View(), Queue: slot.View(), Epoch: w.request.Epoch(),
		Isolation: w.Isolation, Ceiling: w.PerRun}
	if err = w.fromBase(ctx, &admitted); err == nil {
		err = w.decide(ctx, admitted)
	}
	if err != nil {
		w.logged("release slot", slot.Release())
		return false, err
	}
	return true, nil
}

// wait says what the run waits for and returns when that may have changed.
func (w *work) wait(ctx context.Context, freed <-chan struct{}, poll <-chan time.Time, what string) error {
	if err := w.decide(ctx, workflow.Waiting{For: what, Request: w.request.View()}); err != nil {
		return err
	}
	if poll == nil {
		w.writer.Rest()
	}
	select {
	case <-freed:
	case <-poll:
	case <-w.changes:
		return w.takeOrders(ctx)
	case <-w.request.Lost():
		return ErrLost
	case <-ctx.Done():
		return w.decide(ctx, standStill(ctx))
	}
	return nil
}

func (w *work) slotsHeldBy(holders []store.LockRecord) string {
	var names []string
	for _, h := range holders {
		if h.Owner != "" {
			names = append(names, h.Owner)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return w.slots()
	}
	return w.slots() + ", held by " + strings.Join(names, ", ")
}

func (w *work) slots() string {
	if w.MaxParallel > 1 {
		return fmt.Sprintf("one of %d slots", w.MaxParallel)
	}
	return "a free slot"
}
