package engine

import (
	"context"
	"slices"

	"signalbox/internal/workflow"
)

// takeOrders has every order that people left in the signals decided upon.
// Deciding acknowledges, so each order is taken once.
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

// orders are the signals as events: the one that ends most first, and to go on
// last, for an answer is only taken while the run waits for it.
func orders(s workflow.Signals) (events []workflow.Event) {
	for _, c := range s.Commands {
		if c.Kind == workflow.CommandCancel {
			return []workflow.Event{workflow.StopRequested{Cancel: true}}
		}
	}
	if s.StopRequested {
		events = append(events, workflow.StopRequested{})
	}
	var answer workflow.Event // to the question whether to merge: the last word counts
	for _, c := range s.Commands {
		switch c.Kind {
		case workflow.CommandApprove:
			answer = workflow.Approved{Commit: c.Commit, By: c.By}
		case workflow.CommandReject:
			answer = workflow.Rejected{Reason: c.Text, By: c.By}
		case workflow.CommandSync:
			events = append(events, workflow.SyncOrdered{})
		case workflow.CommandRetry:
			events = append(events, workflow.Retried{})
		case workflow.CommandAnswer:
			events = append(events, workflow.Answered{Command: c.ID}) // no agent waits between two actions, or after a crash
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

// interrupts reports whether an order cannot wait for the action in hand.
func interrupts(s workflow.Signals) bool {
	for _, event := range orders(s) {
		if _, ok := event.(workflow.StopRequested); ok {
			return true
		}
	}
	return false
}
