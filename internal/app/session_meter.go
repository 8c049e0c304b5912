package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"signalbox/internal/agent"
)

// bookEvery is how often a session's usage is booked. A kill may lose that much.
const bookEvery = 2 * time.Second

// ErrSpent is why a session ends when a budget is spent.
var ErrSpent = errors.New("AGENT_OVERSPENT")

// meter books what a session uses while it runs.
type meter struct {
	book func(context.Context, agent.Usage) (reached string, err error)
	// end ends the session, saying why.
	end context.CancelCauseFunc

	mu     sync.Mutex
	booked agent.Usage
	used   agent.Usage
	// spent is the budget that ended the session, nil before.
	spent error
	more  chan struct{}
}

// count adds what was used since the last call.
func (m *meter) count(u agent.Usage) {
	m.mu.Lock()
	m.used = m.used.Add(u)
	m.mu.Unlock()
	select {
	case m.more <- struct{}{}:
	default:
	}
}

// run books until ctx ends, and then once more.
func (m *meter) run(ctx context.Context) error {
	whole := context.WithoutCancel(ctx) // finish what was begun
	ticker := time.NewTicker(bookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-m.more:
		case <-ctx.Done():
			return m.flush(whole)
		}
		if err := m.flush(whole); err != nil {
			m.end(err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// flush books what was used since the last time, and returns ErrSpent if that spent a budget.
func (m *meter) flush(ctx context.Context) error {
	m.mu.Lock()
	since := m.used.Sub(m.booked)
	m.booked = m.used
	m.mu.Unlock()
	if since == (agent.Usage{}) {
		return nil
	}
	reached, err := m.book(ctx, since)
	if err == nil && reached != "" {
		err = fmt.Errorf("%w: %s", ErrSpent, reached)
		m.spent = err
	}
	return err
}
