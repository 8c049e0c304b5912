package heal

import (
	"context"

	"signalbox/internal/health"
	"signalbox/internal/redact"
)

// finishResumed ends a pass that only judged repairs started earlier, and in which no check failed. A pass that was interrupted before it did
// anything is discarded.
func (p *pass) finishResumed(ctx context.Context, sight health.Sight) error {
	err := p.update(ctx, func(h *health.State) {
		h.Loop.Unseen = sight.Unseen
		h.Unmet(nil)
	})
	if err != nil {
		return err
	}
	if p.state.Loop.Pass == nil {
		return p.quiet(ctx, sight)
	}
	if err := p.remember(ctx); err != nil {
		return err
	}
	return p.finish(ctx)
}

// quiet ends a pass in which no check failed.
func (p *pass) quiet(ctx context.Context, sight health.Sight) error {
	if !p.state.Shows(sight) {
		return p.unclear(ctx, sight)
	}
	return p.well(ctx, sight)
}

// stopped records why the pass ended early, for status displays.
func (p *pass) stopped(ctx context.Context, why error) {
	line := redact.Line(p.Redact.String(why.Error()), 300)
	if err := p.update(ctx, func(h *health.State) { h.Loop.Stopped = line }); err != nil {
		p.Logger.Warn("write down why the pass ended", "err", err)
	}
}

// finish ends a pass that did something. It writes the log first: a crash between the two writes logs the pass again instead of losing it.
func (p *pass) finish(ctx context.Context) error {
	now := p.Clock()
	ahead, err := p.doc.Load(ctx)
	if err != nil {
		return err
	}
	ended := ahead.Finish(p.Every, now)
	if err := p.log(ctx, ended); err != nil {
		return err
	}
	if err := p.update(ctx, func(h *health.State) { h.Finish(p.Every, now) }); err != nil {
		return err
	}
	p.report.Result, p.report.Pass = ended.Result, &ended
	return p.escalate(ctx)
}

// well ends a pass without findings. It logs and reports only a change.
func (p *pass) well(ctx context.Context, sight health.Sight) error {
	before, now := p.state.LastHealthStatus, p.Clock()
	closed, unclosed, err := p.closeRequests(ctx, p.state.ToClose())
	if err != nil {
		return err
	}
	var ended health.Pass
	err = p.update(ctx, func(h *health.State) {
		h.Loop.Unseen = sight.Unseen
		ended = h.Well(p.begun, p.Every, now)
		h.Loop.Unclosed = unclosed
	})
	if err != nil {
		return err
	}
	p.report.Result = ended.Result
	if p.state.LastHealthStatus != before || closed > 0 {
		p.report.Pass = &ended
		if err := p.log(ctx, ended); err != nil {
			return err
		}
	}
	return p.remember(ctx)
}

// unclear ends a pass that found nothing wrong, but had too few verdicts to call the project healthy.
func (p *pass) unclear(ctx context.Context, sight health.Sight) error {
	var ended health.Pass
	err := p.update(ctx, func(h *health.State) {
		h.Loop.Unseen = sight.Unseen
		ended = h.Unclear(p.begun, p.Every, p.Clock())
	})
	if err != nil {
		return err
	}
	p.report.Result = ended.Result
	return p.remember(ctx)
}
