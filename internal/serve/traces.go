package serve

import (
	"context"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/workflow"
)

// traces has the spans of a run sent soon. If too much waits, the run's next change has them sent.
func (p *project) traces(ref workflow.RunRef) {
	if p.Traces == nil {
		return
	}
	select {
	case p.traced <- ref:
	default:
	}
}

func (p *project) trace(ctx context.Context, a *app.App) {
	for ctx.Err() == nil {
		select {
		case ref := <-p.traced:
			err := p.Traces.Send(ctx, a.Store, p.Name, ref)
			if err == nil || ctx.Err() != nil {
				continue
			}
			p.Log.Warn("the trace waits", "project", p.Name, "err", err)
			select {
			case <-time.After(reopenAfter):
				p.traces(ref)
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
	}
}
