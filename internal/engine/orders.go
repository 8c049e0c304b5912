package engine

import (
	"context"
	"errors"
	"slices"

	"signalbox/internal/workflow"
)

// takeOrders has every order in the signals decided. Deciding acknowledges an order, so each is taken once.
func (x *execution) takeOrders(ctx context.Context) error {
	if err := x.refresh(ctx, &x.run); err != nil {
		return err
	}
	for _, event := range orders(x.run.Signals) {
		if err := x.decide(ctx, event); err != nil {
			return err
		}
	}
	return nil
}

// orders returns the signals as events: the one that ends most comes first. Resuming comes last, because answers count
// only while the run waits for them.
func orders(s workflow.Signals) (events []workflow.Event) {
	for _, c := range s.Commands {
		if c.Kind == workflow.CommandCancel {
			return []workflow.Event{workflow.StopRequested{Cancel: true}}
		}
	}
	if s.StopRequested {
		events = append(events, workflow.StopRequested{})
	}
	var answer workflow.Event // to the question whether to merge: the last one counts
	for _, c := range s.Commands {
		switch c.Kind {
		case workflow.CommandApprove:
			answer = workflow.Approved{Commit: c.Commit, By: c.By}
		case workflow.CommandReject:
			answer = workflow.Rejected{Reason: c.Text, By: c.By}
		case workflow.CommandSync:
			events = append(events, workflow.SyncOrdered{})
		case workflow.CommandWake:
			events = append(events, workflow.Woken{})
		case workflow.CommandRetry:
			events = append(events, workflow.Retried{})
		case workflow.CommandAnswer:
			events = append(events, workflow.Answered{Command: c.ID}) // no agent waits for it between two actions or after a crash
		}
	}
	if answer != nil {
		events = append(events, answer)
	}
	if s.ResumeRequested {
		force := slices.ContainsFunc(s.Commands, func(c workflow.Command) bool { return c.Kind == workflow.CommandForce })
		events = append(events, workflow.Resumed{Force: force})
	}
	return events
}

// interrupts reports whether an order can't wait for the current action.
func interrupts(r workflow.Run) bool {
	return slices.ContainsFunc(orders(r.Signals), func(event workflow.Event) bool {
		switch event.(type) {
		case workflow.StopRequested:
			return true
		case workflow.Woken:
			return r.Watches()
		}
		return false
	})
}

// standStill returns the order that the end of ctx gives the run.
func standStill(ctx context.Context) workflow.Event {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errPrepared):
		return workflow.Prepared{}
	case errors.Is(cause, ErrInterrupted):
		return workflow.Interrupted{}
	}
	return workflow.StopRequested{}
}
