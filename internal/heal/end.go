package heal

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/forge"
	"signalbox/internal/health"
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

// quiet ends a pass in which no check failed. It logs and reports only a change.
func (p *pass) quiet(ctx context.Context, sight health.Sight) error {
	var ended health.Pass
	if !p.state.Shows(sight) { // too few verdicts to call the project healthy
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
	before, now := p.state.LastHealthStatus, p.Clock()
	closed, unclosed, err := p.closeRequests(ctx, p.state.ToClose())
	if err != nil {
		return err
	}
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
	if p.state.Loop.Request != "" {
		return nil
	}
	return p.attendCritical(ctx)
}

// closeRequests closes the requests about errors that went away by themselves, and returns those it can't close; a later pass tries those again. A
// missing request counts as closed.
func (p *pass) closeRequests(ctx context.Context, ids []string) (closed int, unclosed []string, err error) {
	for _, id := range ids {
		request, err := p.Forge.Request(ctx, id)
		if errors.Is(err, forge.ErrNotFound) || err == nil && request.Closed {
			closed++
			continue
		}
		if err == nil {
			err = p.Forge.Comment(ctx, request, "health-closed", fmt.Sprintf("%d passes in a row found nothing wrong, so this is closed.", health.HealthyPasses))
		}
		if err == nil {
			err = p.Forge.CloseRequest(ctx, request, "")
		}
		if err == nil {
			p.Observe(fmt.Sprintf("closed request %s: %d passes in a row found nothing wrong", id, health.HealthyPasses))
			closed++
			continue
		}
		if err := p.setAside(ctx, fmt.Errorf("close request %s: %w", id, err)); err != nil {
			return closed, unclosed, err
		}
		unclosed = append(unclosed, id)
	}
	return closed, unclosed, nil
}
