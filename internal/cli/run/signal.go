package run

import (
	"context"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
)

// order gives an order and shows what became of it.
func order(ctx context.Context, a *command.Invocation, ref string, o app.Order) error {
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	var taken app.Ordered
	_, err = display.Watching(a, false, func(watch app.Watcher) ([]app.Result, error) {
		taken, err = p.Give(ctx, ref, o, watch)
		return nil, err
	})
	switch {
	case err != nil:
		return err
	case taken.Taken == nil:
		return display.PrintOutcome(p, taken.Carried)
	case p.JSON:
		return p.PrintJSON(taken.Run)
	}
	p.Print("taken by the process that carries run %s (%s); follow it: signalbox watch %[1]s\n", taken.Run.Ref(), app.Holder(*taken.Taken))
	return nil
}

// orderOrLeave carries the run after the order, or only leaves the order.
func orderOrLeave(ctx context.Context, a *command.Invocation, ref string, leave bool, o app.Order) error {
	if !leave {
		return order(ctx, a, ref, o)
	}
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	run, err := p.LeaveOnly(ctx, ref, o)
	if err == nil {
		a.Print("left for run %s; it goes on with: signalbox resume %s\n", run.Ref(), run.Ref())
	}
	return err
}
