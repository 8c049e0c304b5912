package engine

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/machine"
)

// execution is one run in the hands of this engine.
type execution struct {
	*Engine
	ref     workflow.RunRef
	run     workflow.Run
	writer  Writer
	request Lock
	slot    Lock
	// changes signals that somebody else may have written the run.
	changes <-chan struct{}
	// asking is the question that people see.
	asking *asking
}

// loop performs what is pending until nothing is, looking for orders in between.
func (x *execution) loop(ctx context.Context) error {
	for {
		if err := x.takeOrders(ctx); err != nil {
			return err
		}
		if x.run.State != workflow.Running {
			return nil
		}
		if moved, err := x.look(ctx); err != nil {
			return err
		} else if moved {
			continue
		}
		event, err := x.perform(ctx, x.run.Details.Pending[0])
		if err != nil {
			return err
		}
		if event != nil {
			if err := x.decide(ctx, event); err != nil {
				return err
			}
		}
		if ctx.Err() != nil && !x.run.State.Ended() {
			return x.decide(ctx, standStill(ctx))
		}
	}
}

// perform carries an action out beside a watch for orders that stop it. It
// returns no event when the action was stopped before it came to anything.
func (x *execution) perform(ctx context.Context, action workflow.Action) (workflow.Event, error) {
	acting, stop := context.WithCancel(ctx)
	defer stop()
	p := &progress{acting: acting, reports: make(chan workflow.AgentReported, 1), found: make(chan workflow.WorkFound),
		questions: make(chan *question), withdrawn: make(chan *question)}
	done := make(chan workflow.Event, 1)
	run := x.run
	go func() { done <- x.Performer.Perform(acting, run, action, p) }()
	latest := x.run
	defer func() { x.run, x.asking = latest, nil }()
	for {
		var err error
		select {
		case event := <-done:
			if event == nil {
				err = x.noteLast(ctx, p, &latest)
			}
			return event, err
		case report := <-p.reports:
			err = x.note(ctx, &latest, report)
		case found := <-p.found:
			err = x.note(ctx, &latest, found)
		case q := <-p.questions:
			err = x.ask(ctx, &latest, q)
		case q := <-p.withdrawn:
			err = x.withdraw(ctx, &latest, q)
		case <-x.asking.overdue():
			err = x.settle(ctx, &latest, x.nobodyAnswered())
		case <-x.request.Lost():
			err = ErrLost
		case _, open := <-x.changes:
			if !open {
				x.changes = nil // ctx ended, which stops the action by itself
			}
			if err = x.takeAnswers(ctx, &latest); interrupts(latest.Signals) {
				stop()
			}
		}
		if err != nil {
			stop()
			<-done
			return nil, err
		}
	}
}

// noteLast saves what a call that was stopped had used by its end.
func (x *execution) noteLast(ctx context.Context, p *progress, latest *workflow.Run) error {
	select {
	case report := <-p.reports:
		return x.note(ctx, latest, report)
	default:
		return nil
	}
}

// note saves a fact that moves nothing, about the action that is being performed.
func (x *execution) note(ctx context.Context, latest *workflow.Run, event workflow.Event) error {
	next, _ := machine.Decide(*latest, event, x.Clock.Now().UTC())
	if next.Details.Transition == latest.Details.Transition {
		return nil
	}
	if err := x.save(context.WithoutCancel(ctx), &next, event); err != nil {
		return err
	}
	*latest = next
	x.Observe(next)
	return nil
}

// look has what changed outside decided upon, before anything else is done. It reports whether the run changed.
func (x *execution) look(ctx context.Context) (moved bool, err error) {
	event, err := x.Performer.Look(ctx, x.run)
	if err != nil || event == nil {
		return false, err
	}
	before := x.run.Details.Transition
	err = x.decide(ctx, event)
	return x.run.Details.Transition != before, err
}

// decide asks for the judgement on a fact, saves it, and brings the other
// documents up to date. A fact that changes nothing is not saved.
func (x *execution) decide(ctx context.Context, event workflow.Event) error {
	next, _ := machine.Decide(x.run, event, x.Clock.Now().UTC())
	if next.Details.Transition == x.run.Details.Transition {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // what is decided is saved, whoever stops us
	if err := x.save(ctx, &next, event); err != nil {
		return err
	}
	x.run = next
	if err := x.project(ctx, next); err != nil {
		return err
	}
	x.Observe(x.run)
	return nil
}

func (x *execution) save(ctx context.Context, next *workflow.Run, event workflow.Event) error {
	select {
	case <-x.request.Lost():
		return ErrLost
	default:
	}
	err := x.writer.Save(ctx, next, event.Name())
	switch {
	case errors.Is(err, ErrFenced):
		return errors.Join(ErrLost, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	return nil
}

func (x *execution) refresh(ctx context.Context, run *workflow.Run) error {
	if _, err := x.writer.Refresh(context.WithoutCancel(ctx), run); err != nil {
		return fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	return nil
}
