package engine

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/machine"
)

// execution is one run that this engine executes.
type execution struct {
	*Engine
	ref     workflow.RunRef
	run     workflow.Run
	writer  Writer
	request Lock
	slot    Lock
	// changes signals that another process may have written the run.
	changes <-chan struct{}
	// asking is the question that people see; empty if there is none.
	asking asking
}

// loop performs pending actions until there are none, and takes orders in between.
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

// perform performs an action, and meanwhile watches for orders that stop it. It returns no event if the action was
// stopped before it had a result.
func (x *execution) perform(ctx context.Context, action workflow.Action) (workflow.Event, error) {
	acting, stop := context.WithCancel(ctx)
	defer stop()
	p := &progress{acting: acting, reports: make(chan workflow.AgentReported, 1), found: make(chan workflow.WorkFound),
		questions: make(chan *question), withdrawn: make(chan *question)}
	done := make(chan workflow.Event, 1)
	run := x.run
	go func() { done <- x.Performer.Perform(acting, run, action, p) }()
	latest := x.run
	defer func() { x.run, x.asking = latest, asking{} }()
	for {
		var err error
		select {
		case event := <-done:
			if event == nil { // save what a stopped call had used by its end
				select {
				case report := <-p.reports:
					err = x.note(ctx, &latest, report)
				default:
				}
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
		case <-x.asking.expires:
			x.Logger.Warn("no one answered in time, so the question counts as denied", "run", x.ref.RunID, "question", x.asking.id, "tool", x.asking.Tool)
			err = x.reply(ctx, &latest, workflow.Answered{Answer: Overdue(x.asking.id)})
		case <-x.request.Lost():
			err = ErrLost
		case _, open := <-x.changes:
			if !open {
				x.changes = nil // ctx ended, which stops the action anyway
			}
			if err = x.takeAnswers(ctx, &latest); interrupts(latest) {
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

// note saves a fact about the current action that doesn't move the run.
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

// look finds outside changes before the next action and has them decided. It reports whether the run changed.
func (x *execution) look(ctx context.Context) (moved bool, err error) {
	event, err := x.Performer.Look(ctx, x.run)
	if err != nil || event == nil {
		return false, err
	}
	before := x.run.Details.Transition
	err = x.decide(ctx, event)
	return x.run.Details.Transition != before, err
}

// decide has a fact decided, saves the result, and updates the other documents. A fact that changes nothing isn't saved.
func (x *execution) decide(ctx context.Context, event workflow.Event) error {
	next, _ := machine.Decide(x.run, event, x.Clock.Now().UTC())
	if next.Details.Transition == x.run.Details.Transition {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // a decision is saved even if ctx has ended
	if err := x.save(ctx, &next, event); err != nil {
		return err
	}
	x.run = next
	if err := x.Project(ctx, next); err != nil {
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
	err := x.writer.Save(ctx, next, workflow.NameOf(event))
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
