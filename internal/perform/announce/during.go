package announce

import (
	"context"
	"errors"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/workflow"
)

// Observe takes the run as it was saved. A question is told by During: the action that asks it is being performed.
func (a *Run) Observe(run workflow.Run) {
	id := ""
	if q := run.Details.Question; q != nil {
		id = q.ID
	}
	a.seenMu.Lock()
	defer a.seenMu.Unlock()
	if a.seen == id {
		return
	}
	a.seen = id
	select {
	case <-a.asked:
	default:
	}
	a.asked <- run
}

// During announces, until end is called, what was put off, and what the action that is performed meanwhile asks.
func (a *Run) During(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.wait(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (a *Run) wait(ctx context.Context) {
	for {
		var due <-chan time.Time
		later, in := a.putOff()
		if later != nil {
			due = a.Clock.After(in)
		}
		select {
		case <-ctx.Done():
			return
		case run := <-a.asked:
			later = &run
		case <-due:
		}
		a.mu.Lock()
		err := a.tell(ctx, *later, unread)
		a.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			a.Logger.Warn("announce the run", "run", later.RunID, "err", err)
		}
	}
}

// putOff returns what was put off, and in how long it may be told.
func (a *Run) putOff() (*workflow.Run, time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.later == nil {
		return nil, 0
	}
	return a.later, max(a.due(newsOf(a.later)).Sub(a.Clock.Now()), 0)
}

// errUnread: the request could not be read when the run was announced first.
var errUnread = errors.New("the request was not read yet")

func unread(context.Context) (forge.Request, error) { return forge.Request{}, errUnread }
