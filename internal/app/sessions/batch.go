package sessions

import (
	"context"
	"fmt"

	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/session"
)

// Batch works on several requests, each in a session of its own that starts when what the request depends on is complete.
type Batch struct {
	*Sessions
	*Plan
	// How is how each session starts, headless.
	How Start
	// Places is how many sessions work at once.
	Places int
	// GoOn: an error stops only the requests that depend on it.
	GoOn bool
	// Tell is called with each event, from several goroutines.
	Tell func(News)

	begun   map[int]bool
	results map[int]Result
	ended   chan Result
	// failed is the first request with an error, 0 if there is none.
	failed, working int
}

// Result is the outcome for one request.
type Result struct {
	Issue int `json:"issue"`
	// Status is complete, error, running (the batch stopped waiting for it), or unknown: not started.
	Status  registry.IssueStatusWord `json:"status"`
	Message string                   `json:"message"`
	// Worked: a session worked on it in this batch.
	Worked bool `json:"-"`
}

// News is one event of a request in a batch.
type News struct {
	Issue int
	Kind  NewsKind
	// Session is the request's session, nil with Ended.
	Session *session.Info
	// Result is set with Ended.
	Result Result
}

// NewsKind is what happened.
type NewsKind string

const (
	Started NewsKind = "started"
	// Joined: a session was already at work, and the batch waits for it.
	Joined NewsKind = "joined"
	// Asks: the session's agent waits for an answer.
	Asks  NewsKind = "asks"
	Ended NewsKind = "ended"
)

// Run starts what can start whenever a session has ended, until none is at work, and returns the outcome of each request in the plan's
// order. When ctx ends, the sessions continue.
func (b *Batch) Run(ctx context.Context) ([]Result, error) {
	b.begun, b.results, b.ended = map[int]bool{}, map[int]Result{}, make(chan Result)
	for {
		if ctx.Err() == nil {
			if err := b.startMore(ctx); err != nil {
				return nil, err
			}
		}
		if b.working == 0 {
			break
		}
		b.take(<-b.ended)
		b.working--
	}
	list := []Result{}
	for _, n := range b.Order {
		r, known := b.results[n]
		if !known {
			r = Result{Issue: n, Status: registry.IssueUnknown, Message: "not started"}
		}
		list = append(list, r)
	}
	return list, nil
}

// startMore goes through the requests once, in order: what a request needs comes before it.
func (b *Batch) startMore(ctx context.Context) error {
	for _, n := range b.Order {
		if b.begun[n] {
			continue
		}
		wait, hindrance := b.hindrance(n)
		if wait {
			continue
		}
		done := false
		if hindrance == "" {
			var err error
			if done, err = b.Complete(ctx, b.Requests[n]); err != nil {
				return err
			}
		}
		switch {
		case hindrance != "":
			b.begun[n] = true
			b.take(Result{Issue: n, Status: registry.IssueUnknown, Message: "not started: " + hindrance})
		case done:
			b.begun[n] = true
			b.take(Result{Issue: n, Status: registry.IssueComplete, Message: "it was complete already"})
		case b.working < b.Places:
			b.begun[n] = true
			b.working++
			go func() { b.ended <- b.work(ctx, n) }()
		}
	}
	return nil
}

// hindrance is why n must not start at all, or whether it has to wait for what it needs.
func (b *Batch) hindrance(n int) (wait bool, why string) {
	for _, need := range b.needs[n] {
		switch r, ended := b.results[need]; {
		case !ended:
			wait = true
		case r.Status != registry.IssueComplete:
			return false, fmt.Sprintf("it depends on #%d, which is not complete", need)
		}
	}
	if b.failed != 0 && !b.GoOn {
		return false, fmt.Sprintf("#%d is an error", b.failed)
	}
	return wait, ""
}

// work runs one session, from its start to its outcome.
func (b *Batch) work(ctx context.Context, n int) Result {
	x, info, kind, err := b.session(ctx, n)
	if err == nil {
		b.Tell(News{Issue: n, Kind: kind, Session: &info})
		info, err = x.Wait(ctx, NewQuestions(func(i session.Info) { b.Tell(News{Issue: n, Kind: Asks, Session: &i}) }))
	}
	switch {
	case ctx.Err() != nil:
		return Result{Issue: n, Status: registry.IssueRunning, Message: "not waited for any more"}
	case err != nil:
		return Result{Issue: n, Status: registry.IssueError, Message: err.Error(), Worked: x != nil}
	}
	return Result{Issue: n, Status: app.SessionState(&info), Message: info.Outcome.Message, Worked: true}
}

// session is the request's session that is already at work, or a new one.
func (b *Batch) session(ctx context.Context, n int) (x *session.Session, info session.Info, kind NewsKind, err error) {
	name := session.Name("", n)
	x, info, err = app.OpenSession(ctx, b.Hosts, name)
	switch {
	case err != nil && problem.CodeOf(err) != problem.NotFound:
		return nil, info, "", err
	case err == nil && info.Outcome == nil:
		return x, info, Joined, nil
	case err == nil: // its agent may still run after its final status
		err = x.Stop(ctx)
	default:
		err = nil
	}
	if err == nil {
		info, err = b.Begin(ctx, b.Requests[n], b.How)
	}
	if err == nil {
		x, err = b.Hosts.Open(ctx, name)
	}
	return x, info, Started, err
}

// take records an outcome.
func (b *Batch) take(r Result) {
	b.results[r.Issue] = r
	if r.Status == registry.IssueError && b.failed == 0 {
		b.failed = r.Issue
	}
	b.Tell(News{Issue: r.Issue, Kind: Ended, Result: r})
}

// NewQuestions calls tell for each question of a session once, when it is asked.
func NewQuestions(tell func(session.Info)) func(session.Info) {
	last := ""
	return func(info session.Info) {
		asked := app.AskedBy(&info)
		if asked == nil || asked.ID == last {
			return
		}
		last = asked.ID
		tell(info)
	}
}
