package serve

import (
	"cmp"
	"context"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/app/healing"
	"signalbox/internal/app/intake"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/process"
)

// watcher obeys people on the forge, as "signalbox forge watch" does. It takes webhooks from now on.
func (p *project) watcher(a *app.App) (*intake.Watcher, error) {
	settings, err := intake.Of(a)
	if err != nil {
		return nil, err
	}
	w := &intake.Watcher{Intake: intake.New(settings), Every: time.Minute, After: time.After, Run: p.order,
		Tell: func(r intake.Result) {
			for _, o := range r.Orders {
				p.Log.Info("an order on the forge", "project", p.Name, "on", o.Order.On.String(), "order", o.Order.Verb, "by", o.Order.By, "refused", o.Refused)
			}
		},
		Failed: func(err error) { p.Log.Warn("the forge", "project", p.Name, "err", err) }}
	if a.Hosted.TakesWebhooks() == nil {
		w.Wakes = intake.NewWakes()
		handler := intake.Handler(a.Hosted.Webhook, w.Wakes, p.Log)
		p.webhook.Store(&handler)
	}
	return w, nil
}

func (p *project) takeOrders(ctx context.Context, w *intake.Watcher) {
	defer p.webhook.Store(nil)
	for ctx.Err() == nil {
		if err := w.Watch(ctx, false); err != nil && ctx.Err() == nil {
			w.Failed(err) // "signalbox forge watch" may do it
		}
		select {
		case <-time.After(reopenAfter):
		case <-ctx.Done():
		}
	}
}

// order has the run of an issue begun or continued when it's its turn, and returns when no process works on it any more.
func (p *project) order(ctx context.Context, id string) error {
	done := make(chan error, 1)
	p.mu.Lock()
	p.orders[id] = done
	delete(p.tries, id) // a person asked for it
	p.mu.Unlock()
	p.wake()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return nil
	}
}

// heal has a pass of the self-healing loop made whenever one is due, in a process of its own.
func (p *project) heal(ctx context.Context, a *app.App) {
	every, err := healing.Every(p.Opener)
	if err != nil || len(a.Config.Health.Checks) == 0 {
		return // there is nothing to check
	}
	every = cmp.Or(every, health.Interval)
	_ = healing.Watch(ctx, p.Opener, 0, func() (heal.Report, error) {
		report := heal.Report{Every: every, Result: health.PassUnknown}
		at, err := healing.Load(ctx, p.Opener)
		if err == nil {
			if gate, now := at.Gate(every, p.Opener.Now()), p.Opener.Now(); gate.Until.After(now) {
				report.Health, report.Every = at.State, gate.Until.Sub(now)
				return report, nil
			}
			var d *process.Detached
			if d, err = process.Detach(p.Program, a.Root, []string{"heal"}); err == nil {
				defer d.Forget()
				select {
				case <-d.Ended:
				case <-ctx.Done():
					return report, nil
				}
				if code := d.ExitCode(); code == problem.General || code == problem.Usage || code == problem.Untrusted {
					p.Log.Warn("a pass of the self-healing loop", "project", p.Name, "exit", code, "printed", d.Said())
				}
				at, err = healing.Load(ctx, p.Opener)
			}
		}
		if err != nil {
			p.Log.Warn("the self-healing loop", "project", p.Name, "err", err)
			return heal.Report{}, nil
		}
		report.Health = at.State
		return report, nil
	})
}
