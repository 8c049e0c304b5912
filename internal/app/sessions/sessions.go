// Package sessions starts agents that a person works with: one in a request's environment, or one for each of several requests, in the
// order of their dependencies. It also removes sessions that have ended. It prints nothing. Package session is for following a session,
// typing to it and ending it.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

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
	// basing is held while such work is merged, since two sessions may need the same.
	basing sync.Mutex
}

// Of returns the project's sessions.
func Of(p *app.App) (*Sessions, error) {
	hosts, err := app.SessionsOf(p.Store)
	return &Sessions{App: p, Hosts: hosts}, err
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

// Start says how to start a session.
type Start struct {
	// Agent names an agent of the configuration, Program is a path instead. Without both, the agent that implements requests starts.
	Agent, Program string
	// Prompt replaces the request's prompt.
	Prompt     string
	Mode       session.Mode
	TmuxSocket string
	// Size is the size of the agent's terminal, zero if unknown.
	Size process.TerminalSize
	// Grant: the request's budgets start again.
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

// Begin starts the request's session in the environment of its run, and makes both if they don't exist.
func (s *Sessions) Begin(ctx context.Context, request forge.Request, how Start) (session.Info, error) {
	name, agent, err := s.SessionAgent(how.Agent, how.Program)
	if err == nil {
		err = errors.Join(how.check(), s.agentThere(name, agent))
	}
	if err == nil {
		err = s.free(ctx, request)
	}
	if err == nil { // refuses a prompt that is too long before anything is made
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
		err = s.baseOnNeeded(ctx, request, &run)
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
	if held := s.free(ctx, request); held != nil { // someone was faster
		return session.Info{}, held
	}
	return session.Info{}, wire.Explained(errors.Join(err, s.notStarted(ctx, &c, before, err)))
}

// notStarted corrects the issue's status, which its run has left at running: it becomes what it was before or, if it wasn't anything,
// an error.
func (s *Sessions) notStarted(ctx context.Context, c *session.Config, before registry.IssueStatus, why error) error {
	return s.Store.IssueStatus(c.Issue).Update(ctx, func(status *registry.IssueStatus) error {
		if before.Status != "" && before.Status != registry.IssueRunning {
			*status = before
			return nil
		}
		status.Set(registry.IssueError, session.Name(c.Prefix, c.Issue), redact.Line(why.Error(), 400), s.Now())
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
