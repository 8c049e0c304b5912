package background

import (
	"context"
	"strings"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// beginsWithin is how long a process may take until it works on a run.
const beginsWithin = 30 * time.Second

// Run begins the run of the request that ref names, or continues one that was cut off. It returns the request's id.
func (s Starter) Run(ctx context.Context, p *app.App, ref string) (request string, err error) {
	if p, err = p.Trusted(ctx); err != nil {
		return "", err
	}
	named, err := p.Named(ctx, ref)
	if err != nil {
		return "", err
	}
	if holder, held, err := p.Held(ctx, named.ID); err != nil || held {
		if err == nil {
			err = app.HeldRequest(named.Number, holder)
		}
		return "", err
	}
	return named.ID, s.begin(ctx, p, named.ID, "run", "--", ref)
}

// Stop stops a run; with cancel, for good. If no process runs it, one of its own records that it is stopped.
func (s Starter) Stop(ctx context.Context, p *app.App, ref string, cancel bool) error {
	o, command := app.Stop(cancel), []string{"stop", "--", ref}
	if cancel {
		command = []string{"stop", "--cancel", "--", ref}
	}
	found, by, held, err := held(ctx, p, ref, o)
	if err == nil && held {
		held, err = leave(ctx, p, found, o, by)
	}
	if err != nil || held {
		return err
	}
	return s.begin(ctx, p, found.RequestID, command...)
}

// Give leaves an order, and has the run continue.
func (s Starter) Give(ctx context.Context, p *app.App, ref string, o app.Order) error {
	found, by, held, err := held(ctx, p, ref, o)
	switch {
	case err != nil:
		return err
	case held:
		if taken, err := leave(ctx, p, found, o, by); err != nil || taken {
			return err
		}
	default:
		if _, err := p.LeaveOnly(ctx, found.RunID, o); err != nil {
			return err
		}
	}
	return s.begin(ctx, p, found.RequestID, "run", "--", found.RequestID) // resume would have the issue read again
}

// held reports whether a process runs the run that ref names, and which. It is an error if the order isn't possible.
func held(ctx context.Context, p *app.App, ref string, o app.Order) (run workflow.RunRef, by store.LockRecord, held bool, err error) {
	found, err := p.Find(ctx, ref)
	if err == nil {
		err = o.May(&found.Run)
	}
	if err != nil {
		return run, by, false, err
	}
	by, held, err = p.Held(ctx, found.Ref.RequestID)
	if held && strings.HasPrefix(by.Owner, app.SessionOwner) { // a session takes no orders
		err = app.HeldRequest(found.Run.Details.Number, by)
	}
	return found.Ref, by, held, err
}

// leave leaves an order for the process that runs the run, and waits until that has taken it. A process that is about to end takes none.
func leave(ctx context.Context, p *app.App, run workflow.RunRef, o app.Order, by store.LockRecord) (taken bool, err error) {
	if _, err := p.LeaveOnly(ctx, run.RunID, o); err != nil {
		return false, err
	}
	_, taken, err = p.Taken(ctx, run, by, func(*workflow.Run) bool { return true })
	return taken, err
}

func (s Starter) begin(ctx context.Context, p *app.App, request string, command ...string) error {
	within, cancel := context.WithTimeout(ctx, beginsWithin)
	defer cancel()
	_, err := s.Start(within, p, request, command[0], command[1:]...)
	return err
}
