package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"signalbox/internal/agent"
)

// bookEvery is how much of a session's usage a kill may lose.
const bookEvery = 2 * time.Second

// ErrSpent ends a session.
var ErrSpent = errors.New("AGENT_OVERSPENT")

// meter books what a session uses, while it uses it.
type meter struct {
	book func(context.Context, agent.Usage) (reached string, err error)
	// end ends the session, saying why.
	end context.CancelCauseFunc

	mu     sync.Mutex
	booked agent.Usage
	used   agent.Usage
	// spent is why the session has to end, once it has.
	spent error
	more  chan struct{}
}

func newMeter(end context.CancelCauseFunc, book func(context.Context, agent.Usage) (string, error)) *meter {
	return &meter{book: book, end: end, more: make(chan struct{}, 1)}
}

// count takes what was used since the last time.
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
	whole := context.WithoutCancel(ctx) // what is begun to be booked is booked
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

// total is all of it, where the agent's own reckoning comes to more than it told on the way.
func (m *meter) total(u agent.Usage) {
	m.mu.Lock()
	rest := u.Sub(m.used)
	m.mu.Unlock()
	m.count(rest)
}
