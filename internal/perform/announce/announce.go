// Package announce tells people where a request is how its run stands: by one comment that is edited in place, by a comment of its own when a person
// is needed and, on a server, by labels and verdicts. It owns what is said and how often. It refuses to matter: a run goes on whatever becomes of its
// announcements.
package announce

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/language"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

const (
	// apart is how long a server gets no edit that only tells of another phase.
	apart = 15 * time.Second
	// maxFailed bounds how the time between tries doubles: to 16 minutes.
	maxFailed = 6
	// patience is how long a run waits for a server that is slow to take an announcement.
	patience = 30 * time.Second
	// again is how soon the last state of a run is told once more if the server failed.
	again = 2 * time.Second
)

// Config is what announcements need.
type Config struct {
	Forge    forge.Forge
	Language language.Language
	Clock    engine.Clock
	Redact   *redact.Redactor
	Logger   *slog.Logger
}

// Run announces one run. It's safe for use by several goroutines.
type Run struct {
	Config
	mu      sync.Mutex
	request *forge.Request
	// told is the last news that arrived, tried the last that was sent; transition is that of the latest run seen.
	told, tried news
	transition  int
	// next is when another phase may be told, blocked when the server takes calls again.
	next, blocked time.Time
	// failed is how often the server failed since it took an announcement.
	failed int
	// later is what was put off.
	later *workflow.Run
	// seen is the question in the latest run that Observe saw. asked has that run.
	seenMu sync.Mutex
	seen   string
	asked  chan workflow.Run
}

// New returns the announcements of one run. The first one is always sent: a process before may have died with it.
func New(c Config) *Run { return &Run{Config: c, asked: make(chan workflow.Run, 1)} }

// Tell announces the run unless people know it already, or puts it off. request is asked at most once.
func (a *Run) Tell(ctx context.Context, run workflow.Run, request func(context.Context) (forge.Request, error)) error {
	if run.State == workflow.Queued && run.Details.ParkedUntil == nil {
		return nil // a thousand may wait
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.tell(ctx, run, request)
	if failed := (*forge.Failure)(nil); run.State.Ended() && errors.As(err, &failed) && failed.Kind == forge.Unavailable { // no later state repeats it
		<-a.Clock.After(again)
		a.next = time.Time{}
		err = a.tell(ctx, run, request)
	}
	return err
}

// tell announces a run now, or puts it off. The caller holds mu.
func (a *Run) tell(ctx context.Context, run workflow.Run, request func(context.Context) (forge.Request, error)) (err error) {
	if run.Details.Transition < a.transition {
		return nil
	}
	a.transition = run.Details.Transition
	n, now := newsOf(&run), a.Clock.Now()
	if a.later = nil; n == a.told {
		return nil
	}
	if now.Before(a.due(n)) {
		a.later = &run
		return nil
	}
	a.tried, a.next = n, now.Add(apart)
	if a.request == nil {
		found, err := request(ctx)
		if err != nil {
			return err
		}
		a.request = &found
	}
	if err = a.write(ctx, &run); err == nil {
		a.told, a.failed = n, 0
		return nil
	}
	a.later, a.next = &run, now.Add(apart<<min(a.failed, maxFailed))
	a.failed++
	if failed := (*forge.Failure)(nil); errors.As(err, &failed) && failed.Kind == forge.Limited {
		a.blocked = now.Add(max(failed.RetryAfter, apart))
	}
	return err
}

// due is when the news may be told. A server's limit is respected whatever there is to tell; a question or an outcome waits for nothing else.
func (a *Run) due(n news) time.Time {
	_, server := a.Forge.(forge.Announcer)
	if !server || n.urgent != a.told.urgent && n != a.tried || a.next.Before(a.blocked) {
		return a.blocked
	}
	return a.next
}

// write sends the announcement.
func (a *Run) write(ctx context.Context, r *workflow.Run) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if server, ok := a.Forge.(forge.Announcer); ok {
		return server.Announce(ctx, *a.request, a.announcement(r))
	}
	return a.Forge.Comment(ctx, *a.request, forge.ProgressComment, a.Redact.String(a.progress(r)))
}

// announcement is everything there is to say of a run.
func (a *Run) announcement(r *workflow.Run) forge.Announcement {
	said := forge.Announcement{Run: r.RunID, Progress: a.Redact.String(a.progress(r)), Data: data(r), Label: labelOf(r), Head: r.Details.Head,
		Answered: a.Language.Say(language.Answered)}
	if call := a.call(r); call != nil {
		call.Body = a.Redact.String(call.Body)
		said.Call = call
	}
	if pr := r.Details.PullRequest; pr != nil {
		said.Pull, said.Verdicts = pr.Number, a.verdicts(r)
	}
	return said
}
