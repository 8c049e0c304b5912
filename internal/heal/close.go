package heal

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/forge"
	"signalbox/internal/health"
)

// closeRequests closes the requests it can and returns the others; a later pass tries those again.
func (p *pass) closeRequests(ctx context.Context, ids []string) (closed int, unclosed []string, err error) {
	for _, id := range ids {
		if err := p.closeRequest(ctx, id); err == nil {
			closed++
		} else if err := p.setAside(ctx, err); err != nil {
			return closed, unclosed, err
		} else {
			unclosed = append(unclosed, id)
		}
	}
	return closed, unclosed, nil
}

// closeRequest closes a request about an error that went away by itself. A missing request counts as closed.
func (p *pass) closeRequest(ctx context.Context, id string) error {
	request, err := p.Forge.Request(ctx, id)
	if errors.Is(err, forge.ErrNotFound) || err == nil && request.Closed {
		return nil
	}
	if err == nil {
		err = p.Forge.Comment(ctx, request, "health-closed", fmt.Sprintf("%d passes in a row found nothing wrong, so this is closed.", health.HealthyPasses))
	}
	if err == nil {
		err = p.Forge.CloseRequest(ctx, request, "")
	}
	if err != nil {
		return fmt.Errorf("close request %s: %w", id, err)
	}
	p.Observe(fmt.Sprintf("closed request %s: %d passes in a row found nothing wrong", id, health.HealthyPasses))
	return nil
}
