// Package sessions starts agents that a person works with: one in a request's environment, or one for each of several requests
// in the order in which these depend on each other. It also puts away what has ended. It prints nothing; whoever follows a session,
// types to it or ends it has package session for that.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/forge"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/session"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Sessions are those of an opened project.
type Sessions struct {
	*app.App
	Hosts *session.Sessions
	// OnUnmerged, if set, is told before a session begins with work of other requests that is not merged yet.
	OnUnmerged func(number int, needed []int)
	now        func() time.Time
	// laying is held while such work is put together: what two sessions need may be the same.
	laying sync.Mutex
}

func Of(p *app.App) (*Sessions, error) {
	hosts, err := app.SessionsOf(p.Store)
	return &Sessions{App: p, Hosts: hosts, now: time.Now}, err
}

// Ready returns the project's sessions if one can be started here.
func Ready(ctx context.Context, p *app.App) (*Sessions, error) {
	err := p.ConfigError
	if err == nil {
		_, err = p.Environments.Check(ctx)
	}
	if err == nil {
		err = app.SettleSessions(ctx, p.Store)
	}
	if err != nil {
		return nil, wire.Explained(err)
	}
	return Of(p)
}

// Start is how a person wants a session.
type Start struct {
	// Agent is one of the configuration, Program one by its path instead; without both it is the one that implements requests.
	Agent, Program string
	// Prompt stands in the place of the request's.
	Prompt     string
	Mode       session.Mode
	TmuxSocket string
	// Size is the terminal's, of an agent that has one; zero where it is not known.
	Size process.TerminalSize
	// Grant: the request's budgets count anew.
	Grant bool
}

// StoppedError: the request's run stopped before it had an environment, or before it was given up.
type StoppedError struct{ Run workflow.Run }

func (e *StoppedError) Error() string {
	if e.Run.Error == nil {
		return fmt.Sprintf("run %s stopped", e.Run.Ref())
	}
	return fmt.Sprintf("run %s stopped: %s", e.Run.Ref(), e.Run.Error.Message)
}

// Begin starts the request's session in the environment of its run, which is made as far as that.
func (s *Sessions) Begin(ctx context.Context, request forge.Request, how Start) (session.Info, error) {
	name, agent, err := s.SessionAgent(how.Agent, how.Program)
	if err == nil {
		err = errors.Join(how.check(), s.agentThere(name, agent))
	}
	if err == nil {
		err = s.free(ctx, request)
	}
	if err == nil { // a prompt that the agent cannot be given is refused before anything is made
		_, err = s.config(request, how, workflow.RunRef{})
	}
	if err == nil {
		err = s.maySpend(ctx, &workflow.Run{}, request, true)
	}
	if err != nil {
		return session.Info{}, err
	}
	before, err := s.Store.IssueStatus(request.Number).Load(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return session.Info{}, wire.Explained(err)
	}
	run, err := s.prepare(ctx, request)
	if err == nil {
		err = s.maySpend(ctx, &run, request, how.Grant)
	}
	if err == nil {
		err = s.layNeeded(ctx, request, &run)
	}
	if err != nil {
		return session.Info{}, err
	}
	c, err := s.config(request, how, workflow.RefOf(&run))
	if err != nil {
		return session.Info{}, err
	}
	c.Agent = name
	info, err := s.Hosts.Start(ctx, c)
	if err == nil {
		return info, nil
	}
	if held := s.free(ctx, request); held != nil { // somebody was faster
		return session.Info{}, held
	}
	return session.Info{}, wire.Explained(errors.Join(err, s.notStarted(ctx, &c, before, err)))
}

// notStarted puts the issue's status right, which its run has left at running: it is what it was, if it
// was anything.
func (s *Sessions) notStarted(ctx context.Context, c *session.Config, before registry.IssueStatus, why error) error {
	return s.Store.IssueStatus(c.Issue).Update(ctx, func(status *registry.IssueStatus) error {
		if before.Status != "" && before.Status != registry.IssueRunning {
			*status = before
			return nil
		}
		status.Set(registry.IssueError, session.Name(c.Prefix, c.Issue), redact.Line(why.Error(), 400), s.now())
		return nil
	})
}

// Complete reports a recorded success: the request is merged, or its status says so.
func (s *Sessions) Complete(ctx context.Context, request forge.Request) (bool, error) {
	status, err := s.Store.IssueStatus(request.Number).Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return request.Closed || status.Status == registry.IssueComplete, wire.Explained(err)
}
