package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"signalbox/internal/workflow"
)

// queuePoll is how often a run tries for a slot without a signal: a killed holder frees its slot silently.
const queuePoll = time.Second

// queue waits for a slot and admits the run. It returns false if an order ended the run before.
func (x *execution) queue(ctx context.Context) (admitted bool, err error) {
	place := x.line.join()
	defer x.line.leave(place)
	for front := false; !front; { // nothing is open meanwhile
		select {
		case <-place.turn:
			front = true
		default:
			if err := x.wait(ctx, place.turn, nil, x.slots(nil)+", behind other runs of this process"); err != nil || x.run.State.Ended() {
				return false, err
			}
		}
	}
	if err := x.request.Wake(ctx); err != nil {
		return false, err
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	freed, err := x.Locks.WatchSlots(watch)
	if err != nil {
		return false, err
	}
	for {
		owner := Owner{Name: "run " + x.run.Ref(), RunID: x.ref.RunID}
		slot, holders, err := x.Locks.TakeSlot(ctx, x.MaxParallel, owner)
		if err != nil && ctx.Err() == nil {
			return false, err
		}
		if slot != nil {
			return x.admit(ctx, slot)
		}
		if err := x.wait(ctx, freed, x.Clock.After(queuePoll), x.slots(holders)); err != nil || x.run.State.Ended() {
			return false, err
		}
	}
}

func (x *execution) admit(ctx context.Context, slot Lock) (bool, error) {
	x.slot = slot
	x.Begun()
	_, err := x.look(ctx)
	if err != nil || x.run.State.Ended() {
		x.logged("release slot", slot.Release())
		return false, err
	}
	admitted := workflow.Admitted{Request: x.request.View(), Queue: slot.View(), Epoch: x.request.Epoch(), Prepare: x.prepares}
	if err = x.Performer.Admit(ctx, x.run, &admitted); err == nil {
		err = x.decide(ctx, admitted)
	}
	if err != nil {
		x.logged("release slot", slot.Release())
		return false, err
	}
	return true, nil
}

// wait saves what the run waits for and returns when that may have changed.
func (x *execution) wait(ctx context.Context, freed <-chan struct{}, poll <-chan time.Time, what string) error {
	if err := x.decide(ctx, workflow.Waiting{For: what, Request: x.request.View()}); err != nil {
		return err
	}
	if poll == nil {
		x.writer.Rest()
		x.request.Rest()
	}
	x.Begun()
	select {
	case <-freed:
	case <-poll:
	case <-x.changes:
		return x.takeOrders(ctx)
	case <-x.request.Lost():
		return ErrLost
	case <-ctx.Done():
		return x.decide(ctx, standStill(ctx))
	}
	return nil
}

// slots describes what a run waits for and, as far as known, the holders.
func (x *execution) slots(holders []string) string {
	what := "a free slot"
	if x.MaxParallel > 1 {
		what = fmt.Sprintf("one of %d slots", x.MaxParallel)
	}
	names := slices.DeleteFunc(slices.Sorted(slices.Values(holders)), func(name string) bool { return name == "" })
	if len(names) == 0 {
		return what
	}
	return what + ", held by " + strings.Join(names, ", ")
}

// inFront is how many runs of one process try for a slot at once and show its holders. Each change of holders costs them
// a look and a save. The others wait silently for their turn, so a thousand runs cost no more than these.
const inFront = 8

// line is the order in which the runs of this process try for a slot. A crash loses nothing by it: all of them are QUEUED.
type line struct {
	mu     sync.Mutex
	places []*place
}

// place is a run's place in the line.
type place struct {
	// turn is closed when the run is in front.
	turn  chan struct{}
	front bool
}

func (l *line) join() *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &place{turn: make(chan struct{})}
	l.places = append(l.places, p)
	l.moveUp()
	return p
}

func (l *line) leave(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.places = slices.DeleteFunc(l.places, func(other *place) bool { return other == p })
	l.moveUp()
}

func (l *line) moveUp() {
	for _, p := range l.places[:min(inFront, len(l.places))] {
		if !p.front {
			p.front = true
			close(p.turn)
		}
	}
}
