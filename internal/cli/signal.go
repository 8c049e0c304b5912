package cli

import (
	"context"

	"signalbox/internal/app"
)

// order gives an order and shows what became of it.
func (a *invocation) order(ctx context.Context, ref string, o app.Order) error {
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	var taken app.Ordered
	_, err = a.watching(false, func(watch app.Watcher) ([]app.Result, error) {
		taken, err = p.Give(ctx, ref, o, watch)
		return nil, err
	})
	switch {
	case err != nil:
		return err
	case taken.Taken == nil:
		return p.outcome(taken.Carried)
	case p.json:
		return p.printJSON(taken.Run)
	}
	p.print("taken by the process that carries run %s (%s); follow it: signalbox watch %[1]s\n", taken.Run.Ref(), app.Holder(*taken.Taken))
	return nil
}

// orderOrLeave carries the run after the order, or only leaves the order.
func (a *invocation) orderOrLeave(ctx context.Context, ref string, leave bool, o app.Order) error {
	if !leave {
		return a.order(ctx, ref, o)
	}
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	run, err := p.LeaveOnly(ctx, ref, o)
	if err == nil {
		a.print("left for run %s; it goes on with: signalbox resume %s\n", run.Ref(), run.Ref())
	}
	return err
}
