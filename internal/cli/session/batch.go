package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/session"
)

// batch works on several requests with sessions.
type batch struct {
	app     *command.Invocation
	project *command.Project
	how     sessionStart
	plan    *batchPlan
	// places is how many sessions work at once; goOn: an error stops only what depends on it.
	places int
	goOn   bool

	begun   map[int]bool
	results map[int]batchResult
	ended   chan batchResult
	// failed is the first that is an error; 0 while there is none.
	failed, working int
}

// batchResult is what became of one request.
type batchResult struct {
	Issue int `json:"issue"`
	// Status is complete, error, running (nobody waits for it any more), or unknown: not started.
	Status  registry.IssueStatusWord `json:"status"`
	Message string                   `json:"message"`
}

// carry starts what may start whenever something has ended, until nothing works any more. Sessions go
// on when ctx ends.
func (b *batch) carry(ctx context.Context) error {
	b.begun, b.results, b.ended = map[int]bool{}, map[int]batchResult{}, make(chan batchResult)
	for {
		if ctx.Err() == nil {
			if err := b.startMore(ctx); err != nil {
				return err
			}
		}
		if b.working == 0 {
			return b.outcome(ctx)
		}
		b.take(<-b.ended)
		b.working--
	}
}

// startMore passes over the requests once: what one needs comes before it.
func (b *batch) startMore(ctx context.Context) error {
	for _, n := range b.plan.order {
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
			if done, err = isComplete(ctx, b.project, b.plan.requests[n]); err != nil {
				return err
			}
		}
		switch {
		case hindrance != "":
			b.begun[n] = true
			b.take(batchResult{n, registry.IssueUnknown, "not started: " + hindrance})
		case done:
			b.begun[n] = true
			b.take(batchResult{n, registry.IssueComplete, "it was complete already"})
		case b.working < b.places:
			b.begun[n] = true
			b.working++
			go func() { b.ended <- b.work(ctx, n) }()
		}
	}
	return nil
}

// hindrance is why n is not to be started at all; or it has to wait for what it needs.
func (b *batch) hindrance(n int) (wait bool, why string) {
	for _, need := range b.plan.needs[n] {
		switch r, ended := b.results[need]; {
		case !ended:
			wait = true
		case r.Status != registry.IssueComplete:
			return false, fmt.Sprintf("it depends on #%d, which is not complete", need)
		}
	}
	if b.failed != 0 && !b.goOn {
		return false, fmt.Sprintf("#%d is an error", b.failed)
	}
	return wait, ""
}

// work is one session, from its start to what it comes to.
func (b *batch) work(ctx context.Context, n int) batchResult {
	x, info, ours, err := b.session(ctx, n)
	if err == nil {
		word := "started"
		if !ours {
			word = "is at work already, and waited for"
		}
		printNews(b.app, "#%d %s: %s", n, word, redact.Line(info.Agent, 60))
		info, err = x.WaitHearing(ctx, newQuestions(func(i session.Info) { printNews(b.app, "#%d %s", n, sessionSays(&i)) }))
	}
	switch {
	case ctx.Err() != nil:
		return batchResult{n, registry.IssueRunning, "not waited for any more"}
	case err != nil:
		return batchResult{n, registry.IssueError, err.Error()}
	}
	return batchResult{n, app.SessionState(&info), info.Outcome.Message}
}

// session is the one that is at work already, or a new one, which is ours.
func (b *batch) session(ctx context.Context, n int) (x *session.Session, info session.Info, ours bool, err error) {
	all, err := app.SessionsOf(b.project.Store)
	if err != nil {
		return nil, info, false, err
	}
	name := session.Name("", n)
	x, info, err = app.OpenSession(ctx, all, name)
	switch {
	case err != nil && problem.CodeOf(err) != problem.NotFound:
		return nil, info, false, err
	case err == nil && info.Outcome == nil:
		return x, info, false, nil
	case err == nil: // its agent may not have ended after its last word
		err = x.Stop(ctx)
	default:
		err = nil
	}
	if err == nil {
		info, err = startFor(ctx, b.project, b.plan.requests[n], b.how)
	}
	if err == nil {
		x, err = all.Open(ctx, name)
	}
	return x, info, true, err
}

func (b *batch) take(r batchResult) {
	b.results[r.Issue] = r
	if r.Status == registry.IssueError && b.failed == 0 {
		b.failed = r.Issue
	}
	says := redact.Line(r.Message, 300)
	if r.Status != registry.IssueUnknown {
		says = strings.TrimSuffix(fmt.Sprintf("%s: %s", r.Status, says), ": ")
	}
	printNews(b.app, "#%d %s", r.Issue, says)
}

// news is a line of progress, which a program that reads JSON is spared.
func printNews(a *command.Invocation, format string, args ...any) {
	if !a.JSON {
		a.Print("%s %s\n", commandline.Clock(time.Now()), fmt.Sprintf(format, args...))
	}
}

// sayNext says where the work is, and what to do with it.
func (b *batch) sayNext(done []string, failed []int) {
	for _, n := range failed {
		b.app.Say(fmt.Sprintf("#%d: signalbox session logs %[1]d", n))
	}
	if len(done) > 0 {
		b.app.Say(fmt.Sprintf("see what one changed: signalbox env exec %s -- sh -c 'git add -N . && git diff'\n"+
			"put the work on refs, from which git merges it: signalbox session cleanup %s", done[0], strings.Join(done, " ")))
	}
}

func (b *batch) outcome(ctx context.Context) error {
	complete, list, failed := 0, []batchResult{}, []int{}
	var done []string
	for _, n := range b.plan.order {
		r, known := b.results[n]
		if !known {
			r = batchResult{n, registry.IssueUnknown, "not started"}
		}
		if r.Status == registry.IssueComplete {
			complete++
			done = append(done, strconv.Itoa(n))
		}
		if r.Status == registry.IssueError {
			failed = append(failed, n)
		}
		list = append(list, r)
	}
	var err error
	if b.app.JSON {
		err = b.app.PrintJSON(list)
	} else {
		b.app.Print("%d of %s complete\n", complete, commandline.Count(len(list), "issue"))
		b.sayNext(done, failed)
	}
	switch {
	case ctx.Err() != nil:
		b.app.Say("sessions that were started go on, and so does the batch by the same command")
		return errors.Join(err, &problem.Error{Code: problem.Canceled})
	case complete < len(list):
		return errors.Join(err, &problem.Error{Code: problem.Failed})
	}
	return err
}
