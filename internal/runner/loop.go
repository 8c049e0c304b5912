package runner

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// work is one run in the hands of this runner.
type work struct {
	*Runner
	ref     store.RunRef
	run     workflow.Run
	writer  *store.RunWriter
	request *store.Lock
	slot    *store.Lock
	// changes tells that stage.json may have been written by somebody else.
	changes <-chan struct{}

	// reports is what a call in hand tells while it runs; it holds the latest.
	reports chan workflow.AgentReported
	// found tells of work that lay in the environment.
	found chan workflow.WorkFound
	// questions are what it asks, withdrawn those that it wants no answer to any more, and asking the one
	// that people see.
	questions, withdrawn chan *question
	asking               *asking

	// env is found once, and again when a plan chose an environment with another image than its own.
	env   environment.Environment
	image string
	// entered: something of this runner's has begun in the environment, so that what lies there is its own.
	entered bool
	// agentsAsked: the agents were found to start.
	agentsAsked bool
	// content is the commit whose content the environment was just recorded as; empty once
	// anything ran in it.
	content string
	// testedAt is the commit that it was before tests ran in it, and nothing else since: what is there
	// beyond that commit, they left, and would leave again.
	testedAt string
	asked    *forge.Request
	shown    shown
}

// loop performs what is pending until nothing is, looking for orders in between.
func (w *work) loop(ctx context.Context) error {
	for {
		if err := w.takeOrders(ctx); err != nil {
			return err
		}
		if w.run.State != workflow.Running {
			return nil
		}
		if moved, err := w.lookAtBranch(ctx); err != nil {
			return err
		} else if moved {
			continue
		}
		event, err := w.perform(ctx, w.run.Journey.Pending[0])
		if err != nil {
			return err
		}
		if event != nil {
			if err := w.decide(ctx, event); err != nil {
				return err
			}
		}
		if ctx.Err() != nil && !w.run.State.Ended() {
			return w.decide(ctx, standStill(ctx))
		}
	}
}

// perform carries an action out beside a watch for orders that stop it. It
// returns no event when the action was stopped before it came to anything.
func (w *work) perform(ctx context.Context, action workflow.Action) (workflow.Event, error) {
	acting, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan workflow.Event, 1)
	go func() { done <- w.outcome(acting, action) }()
	latest := w.run // the action reads w.run, so what others write goes here meanwhile
	defer func() { w.run, w.asking = latest, nil }()
	for {
		var err error
		select {
		case event := <-done:
			if event == nil {
				err = w.noteLast(ctx, &latest)
			}
			return event, err
		case report := <-w.reports:
			err = w.note(ctx, &latest, report)
		case found := <-w.found:
			err = w.note(ctx, &latest, found)
		case q := <-w.questions:
			err = w.ask(ctx, &latest, q)
		case q := <-w.withdrawn:
			err = w.withdraw(ctx, &latest, q)
		case <-w.asking.overdue():
			err = w.settle(ctx, &latest, w.nobodyAnswered())
		case <-w.request.Lost():
			err = ErrLost
		case _, open := <-w.changes:
			if !open {
				w.changes = nil // ctx ended, which stops the action by itself
			}
			if err = w.takeAnswers(ctx, &latest); interrupts(latest.Signals) {
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
func (w *work) noteLast(ctx context.Context, latest *workflow.Run) error {
	select {
	case report := <-w.reports:
		return w.note(ctx, latest, report)
	default:
		return nil
	}
}

// note saves a fact that moves nothing, about the action that is being performed.
func (w *work) note(ctx context.Context, latest *workflow.Run, event workflow.Event) error {
	next, _ := workflow.Decide(*latest, event, w.Clock.Now().UTC())
	if next.Journey.Transition == latest.Journey.Transition {
		return nil
	}
	if err := w.save(context.WithoutCancel(ctx), &next, event); err != nil {
		return err
	}
	*latest = next
	w.Observe(next)
	return nil
}

// outcome is what performing came to; nil when it was stopped.
func (w *work) outcome(ctx context.Context, action workflow.Action) workflow.Event {
	event, err := w.act(ctx, action)
	switch {
	case err == nil:
		return event
	case ctx.Err() != nil:
		return nil
	}
	w.Logger.Warn("action failed", "run", w.ref.RunID, "action", action.Key, "err", err)
	return workflow.ActionFailed{Outcome: workflow.Outcome{Key: action.Key}, Error: w.failure(action, err)}
}

// decide asks for the judgement on a fact, saves it, and brings the other
// documents up to date. A fact that changes nothing is not saved.
func (w *work) decide(ctx context.Context, event workflow.Event) error {
	next, _ := workflow.Decide(w.run, event, w.Clock.Now().UTC())
	if next.Journey.Transition == w.run.Journey.Transition {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // what is decided is saved, whoever stops us
	if err := w.save(ctx, &next, event); err != nil {
		return err
	}
	w.run = next
	if err := w.project(ctx); err != nil {
		return err
	}
	w.Observe(w.run)
	return nil
}

func (w *work) save(ctx context.Context, next *workflow.Run, event workflow.Event) error {
	select {
	case <-w.request.Lost():
		return ErrLost
	default:
	}
	err := w.writer.Save(ctx, next, store.Transition{Event: event.Name()})
	switch {
	case errors.Is(err, store.ErrFenced):
		return errors.Join(ErrLost, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	return nil
}

func (w *work) refresh(ctx context.Context, run *workflow.Run) error {
	if _, err := w.writer.Refresh(context.WithoutCancel(ctx), run); err != nil {
		return fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	return nil
}
