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
		if err := w.wait(ctx, freed, holders); err != nil || w.run.State.Ended() {
			return false, err
		}
	}
}

func (w *work) admit(ctx context.Context, slot *store.Lock) (bool, error) {
	w.slot = slot
	err := w.decide(ctx, workflow.Admitted{Request: w.request.View(), Queue: slot.View(), Epoch: w.request.Epoch(),
		Isolation: w.Isolation, Ceiling: w.PerRun})
	if err != nil {
		w.logged("release slot", slot.Release())
		return false, err
	}
	return true, nil
}

// wait says what the run waits for and returns when that may have changed.
func (w *work) wait(ctx context.Context, freed <-chan struct{}, holders []store.LockRecord) error {
	if err := w.decide(ctx, workflow.Waiting{For: w.slotsHeldBy(holders), Request: w.request.View()}); err != nil {
		return err
	}
	select {
	case <-freed:
	case <-w.Clock.After(queuePoll):
	case <-w.changes:
		return w.takeOrders(ctx)
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
	what := "a free slot"
	if w.MaxParallel > 1 {
		what = fmt.Sprintf("one of %d slots", w.MaxParallel)
	}
	if len(names) == 0 {
		return what
	}
	return what + ", held by " + strings.Join(names, ", ")
}
