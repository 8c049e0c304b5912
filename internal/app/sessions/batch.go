package sessions

import (
	"context"
	"fmt"

	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/session"
)

// Batch works on several requests, each with a session of its own as soon as what it depends on is complete.
type Batch struct {
	*Sessions
	*Plan
	// How each session is started: headless.
	How Start
	// Places is how many sessions work at once.
	Places int
	// GoOn: an error stops only what depends on it.
	GoOn bool
	// Tell is called with what happens, from several goroutines.
	Tell func(News)

	begun   map[int]bool
	results map[int]Result
	ended   chan Result
	// failed is the first that is an error; 0 while there is none.
	failed, working int
}

// Result is what became of one request.
type Result struct {
	Issue int `json:"issue"`
	// Status is complete, error, running (nobody waits for it any more), or unknown: not started.
	Status  registry.IssueStatusWord `json:"status"`
	Message string                   `json:"message"`
	// Worked: a session worked on it in this batch.
	Worked bool `json:"-"`
}

// News is one thing that happened to a request of a batch.
type News struct {
	Issue int
	Kind  NewsKind
	// Session is whose news it is; nil with Ended.
	Session *session.Info
	// Result is set with Ended.
	Result Result
}

type NewsKind string

const (
	Started NewsKind = "started"
	// Joined: a session was at work already, and is waited for.
	Joined NewsKind = "joined"
	// Asks: its agent waits for an answer.
	Asks  NewsKind = "asks"
	Ended NewsKind = "ended"
)

// Run starts what may start whenever something has ended, until nothing works any more, and returns what became of each request in
// the plan's order. Sessions go on when ctx ends.
func (b *Batch) Run(ctx context.Context) ([]Result, error) {
	b.begun, b.results, b.ended = map[int]bool{}, map[int]Result{}, make(chan Result)
	for {
		if ctx.Err() == nil {
			if err := b.startMore(ctx); err != nil {
				return nil, err
			}
		}
		if b.working == 0 {
			return b.all(), nil
		}
		b.take(<-b.ended)
		b.working--
	}
}

// startMore passes over the requests once: what one needs comes before it.
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

// hindrance is why n is not to be started at all; or it has to wait for what it needs.
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

// work is one session, from its start to what it comes to.
func (b *Batch) work(ctx context.Context, n int) Result {
	x, info, kind, err := b.session(ctx, n)
	if err == nil {
		b.Tell(News{Issue: n, Kind: kind, Session: &info})
		info, err = x.WaitHearing(ctx, NewQuestions(func(i session.Info) { b.Tell(News{Issue: n, Kind: Asks, Session: &i}) }))
	}
	switch {
	case ctx.Err() != nil:
		return Result{Issue: n, Status: registry.IssueRunning, Message: "not waited for any more"}
	case err != nil:
		return Result{Issue: n, Status: registry.IssueError, Message: err.Error(), Worked: x != nil}
	}
	return Result{Issue: n, Status: app.SessionState(&info), Message: info.Outcome.Message, Worked: true}
}

// session is the one that is at work already, or a new one.
func (b *Batch) session(ctx context.Context, n int) (x *session.Session, info session.Info, kind NewsKind, err error) {
	name := session.Name("", n)
	x, info, err = app.OpenSession(ctx, b.Hosts, name)
	switch {
	case err != nil && problem.CodeOf(err) != problem.NotFound:
		return nil, info, "", err
	case err == nil && info.Outcome == nil:
		return x, info, Joined, nil
	case err == nil: // its agent may not have ended after its last word
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

func (b *Batch) take(r Result) {
	b.results[r.Issue] = r
	if r.Status == registry.IssueError && b.failed == 0 {
		b.failed = r.Issue
	}
	b.Tell(News{Issue: r.Issue, Kind: Ended, Result: r})
}

func (b *Batch) all() []Result {
	list := []Result{}
	for _, n := range b.Order {
		r, known := b.results[n]
		if !known {
			r = Result{Issue: n, Status: registry.IssueUnknown, Message: "not started"}
		}
		list = append(list, r)
	}
	return list
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
