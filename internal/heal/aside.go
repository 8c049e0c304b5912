package heal

import (
	"context"

	"signalbox/internal/health"
	"signalbox/internal/redact"
)

// setAside keeps an error that says nothing of what else there is to look at and to repair, for whoever reads how the pass
// ended; it returns what ends the pass itself.
func (p *pass) setAside(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	p.aside = append(p.aside, err)
	return nil
}

// putOff has a repair wait that nobody could open a request for, or carry.
func (p *pass) putOff(ctx context.Context, id string, why error) (health.RepairOutcome, error) {
	if err := p.setAside(ctx, why); err != nil {
		return "", err
	}
	return p.judge(ctx, health.Repair{ErrorID: id, Outcome: health.RepairWaiting, Why: redact.Line(p.Redact.String(why.Error()), 200)})
}
