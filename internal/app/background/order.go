package background

import (
	"context"
	"time"

	"signalbox/internal/app"
)

// beginsWithin is how long a process may take until it works on a run, and one that does to take an order.
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
	request, held, err := held(ctx, p, ref, o)
	switch {
	case err != nil:
		return err
	case held:
		return leave(ctx, p, ref, o)
	}
	return s.begin(ctx, p, request, command...)
}

// Give leaves an order, and has the run continue.
func (s Starter) Give(ctx context.Context, p *app.App, ref string, o app.Order) error {
	request, held, err := held(ctx, p, ref, o)
	switch {
	case err != nil:
		return err
	case held:
		return leave(ctx, p, ref, o)
	}
	if _, err := p.LeaveOnly(ctx, ref, o); err != nil {
		return err
	}
	return s.begin(ctx, p, request, "run", "--", request) // resume would have the issue read again
}

// held reports whether a process runs the run that ref names. It is an error if the order isn't possible.
func held(ctx context.Context, p *app.App, ref string, o app.Order) (request string, held bool, err error) {
	found, err := p.Find(ctx, ref)
	if err == nil {
		err = o.May(&found.Run)
	}
	if err != nil {
		return "", false, err
	}
	_, held, err = p.Held(ctx, found.Ref.RequestID)
	return found.Ref.RequestID, held, err
}

// leave leaves an order for the process that runs the run, and waits until that has taken it.
func leave(ctx context.Context, p *app.App, ref string, o app.Order) error {
	run, err := p.LeaveOnly(ctx, ref, o)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, beginsWithin)
	defer cancel()
	_, err = p.Changed(within, ref, run.Details.Transition)
	return err
}

func (s Starter) begin(ctx context.Context, p *app.App, request string, command ...string) error {
	within, cancel := context.WithTimeout(ctx, beginsWithin)
	defer cancel()
	_, err := s.Start(within, p, request, command[0], command[1:]...)
	return err
}
