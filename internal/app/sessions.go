package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/lazy"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/session"
	"signalbox/internal/session/terminal"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// SessionsOf are the sessions of a project.
func SessionsOf(s *store.Store) (*session.Sessions, error) {
	root, err := s.Abs(".")
	return &session.Sessions{Root: root, Store: s, Clock: time.Now, Publish: PublishSession}, err
}

// PublishSession writes the status of a session's issue. It leaves a newer status, which is from someone who continued the work.
func PublishSession(ctx context.Context, s *store.Store, info session.Info) error {
	word, message, at := registry.IssueRunning, "", info.StartedAt
	if o := info.Outcome; o != nil {
		word, at = registry.IssueComplete, o.At
		if o.Kind == terminal.Error {
			word, message = registry.IssueError, cmp.Or(o.Message, "the agent reported an error and said no more")
		}
	}
	return s.IssueStatus(info.Issue).Update(ctx, func(status *registry.IssueStatus) error {
		if info.Outcome == nil || !status.Timestamp.After(at) {
			status.Set(word, info.Name, message, at)
			status.Timestamp = at.UTC() // to the nanosecond: it is compared with a run's
		}
		return nil
	})
}

// SettleSessions records the end of sessions that were killed together with their hosts, which could not record it themselves.
func SettleSessions(ctx context.Context, s *store.Store) error {
	names, err := s.Sessions(ctx)
	if err != nil || len(names) == 0 {
		return err
	}
	all, err := SessionsOf(s)
	if err == nil {
		_, err = all.List(ctx)
	}
	return err
}

// OpenSession finds the session of an issue, by its number or its own name.
func OpenSession(ctx context.Context, all *session.Sessions, ref string) (*session.Session, session.Info, error) {
	name := ref
	if IssueNumber().MatchString(ref) {
		n, err := ParseIssue(ref)
		if err != nil {
			return nil, session.Info{}, err
		}
		name = session.Name("", n)
	}
	x, err := all.Open(ctx, name)
	var info session.Info
	if err == nil {
		info, err = x.Info(ctx)
	}
	if errors.Is(err, session.ErrNotFound) || errors.Is(err, store.ErrName) {
		err = &problem.Error{Err: fmt.Errorf("there is no session of %q", ref), Code: problem.NotFound,
			Hint: "see which there are: signalbox session list"}
	}
	return x, info, wire.Explained(err)
}

// LiveSessions are the sessions whose agents haven't ended.
func LiveSessions(ctx context.Context, all *session.Sessions) (live []session.Info, err error) {
	list, err := all.List(ctx)
	for _, info := range list {
		if info.EndedAt == nil {
			live = append(live, info)
		}
	}
	return live, wire.Explained(err)
}

// SessionState is a session's state, in a word of the status file.
func SessionState(i *session.Info) registry.IssueStatusWord {
	switch {
	case i.Outcome == nil:
		return registry.IssueRunning
	case i.Outcome.Kind == terminal.Complete:
		return registry.IssueComplete
	}
	return registry.IssueError
}

// IssueNumber matches an issue's number, as 42 or #42.
var IssueNumber = lazy.Pattern(`^#?[1-9][0-9]{0,8}$`)

// ParseIssue reads an issue's number, as 42 or #42.
func ParseIssue(text string) (int, error) {
	if !IssueNumber().MatchString(text) {
		return 0, &problem.Error{Err: fmt.Errorf("%q is not an issue's number", text), Hint: "an issue has a number, as 42 or #42", Code: problem.Usage}
	}
	return strconv.Atoi(strings.TrimPrefix(text, "#"))
}

// SessionOf is the latest session of the run's issue; both are nil if there is none or it can't be read.
func (p *App) SessionOf(ctx context.Context, r *workflow.Run) (*session.Session, *session.Info) {
	all, err := SessionsOf(p.Store)
	if err != nil {
		return nil, nil
	}
	x, err := all.Open(ctx, session.Name("", r.Details.Number))
	if err != nil {
		return nil, nil
	}
	info, err := x.Info(ctx)
	if err != nil {
		return nil, nil
	}
	return x, &info
}
