package heal

import (
	"context"

	"signalbox/internal/health"
	"signalbox/internal/redact"
)

// setAside logs an error that concerns one check or repair, so the pass goes on, and keeps it for the report. It returns errors that must end the
// pass.
func (p *pass) setAside(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	p.aside = append(p.aside, err)
	return nil
}

// putOff records a repair as waiting because its request could not be opened or its run could not be started.
func (p *pass) putOff(ctx context.Context, id string, why error) (health.RepairOutcome, error) {
	if err := p.setAside(ctx, why); err != nil {
		return "", err
	}
	return p.judge(ctx, health.Repair{ErrorID: id, Outcome: health.RepairWaiting, Why: redact.Line(p.Redact.String(why.Error()), 200)})
}
