package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/config"
	"signalbox/internal/permission"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/session"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// SessionPlace tells the process that hosts a session where its agent runs.
type SessionPlace struct {
	Root    string
	Name    string // the session's
	Run     workflow.RunRef
	Agent   string // of the configuration
	Program string // named by the user, instead of Agent
	// Unsandboxed: the user said so.
	Unsandboxed bool
	// Trusted: the user said --trust.
	Trusted  bool
	Headless bool
	// Grant: the user grants the request's budgets again.
	Grant bool
}

// SessionHost is what the process that hosts a session needs. front is that process's front end, for a project's folder.
func SessionHost(front func(dir string) *Opener) session.HostConfig {
	return session.HostConfig{Publish: PublishSession, Clock: time.Now, Entrance: func(ctx context.Context, words string) (process.Executor, func() error, error) {
		var at SessionPlace
		if err := json.Unmarshal([]byte(words), &at); err != nil {
			return nil, nil, fmt.Errorf("read where to run: %w", err)
		}
		// The project is opened again here: the process that started the session may have ended.
		o := front(at.Root)
		o.Overrides.Unsandboxed, o.Overrides.Trust, o.Overrides.Program = at.Unsandboxed, at.Trusted, at.Program != ""
		p, err := Open(ctx, o)
		if err == nil {
			err = p.ConfigError
		}
		if err == nil && p.Trust.Standing == wire.TrustWithheld {
			err = p.Untrusted()
		}
		if err != nil {
			return nil, nil, err
		}
		p.Obeys = true
		return p.enterSession(ctx, &at)
	}}
}

// enterSession enters the environment of the session's run and prepares the agent.
func (p *App) enterSession(ctx context.Context, at *SessionPlace) (exec process.Executor, leave func() error, err error) {
	run, err := p.Store.Stage(at.Run).Load(ctx)
	if err != nil {
		return nil, nil, err
	}
	place, err := p.Places().Enter(ctx, run, SessionOwner+at.Name)
	if err != nil {
		return nil, nil, err
	}
	leave = func() (err error) {
		if p.Gateway != nil {
			err = p.Gateway.Close()
		}
		return errors.Join(err, place.Leave(), p.Store.Close())
	}
	if !place.Alone {
		return nil, nil, errors.Join(fmt.Errorf("another process works on request %d", run.Details.Number), leave())
	}
	s := &sessionAgent{place: place, redact: p.Redact.String}
	name, c, err := p.SessionAgent(at.Agent, at.Program)
	if err == nil {
		s.agent, err = p.Agent(ctx, name, c)
	}
	if err == nil {
		if old := p.Starting(name, c)(ctx, place); errors.Is(old, agent.ErrTooOld) {
			err = old
		}
	}
	if err == nil {
		_, s.understood = wire.VendorOf(c.Driver)
		s.asker = sessionAsker{rules: permission.Rules{Allow: c.Allow, Deny: c.Deny}, redact: p.Redact.String, issue: run.Details.Number,
			within: time.Duration(wire.Limits(p.Config.Limits).AnswerWithinSec) * time.Second}
		s.reads, err = at.linkReporter()
		s.reports = []string{at.Reporter() + " report", "signalbox report"}
		s.asker.rules.Allow = append(slices.Clone(c.Allow), reportRules(s.reports)...)
	}
	if err == nil {
		s.budget, err = place.Begin(ctx, at.Grant)
	}
	if err != nil {
		return nil, nil, errors.Join(err, leave())
	}
	return s, leave, nil
}

// reportRules allow commands that begin so, for any name of the tool that runs them.
func reportRules(reports []string) (rules []string) {
	for _, command := range reports {
		rules = append(rules, "*("+strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(command)+" *)")
	}
	return rules
}

// SessionAgent is the agent that the user named, or else the one that implements requests.
func (p *App) SessionAgent(name, program string) (string, config.Agent, error) {
	if program != "" {
		return "agent", config.Agent{Driver: config.DriverCommand, Command: []string{program}}, nil
	}
	if name == "" {
		name, c, ok := p.Config.AgentFor("implementer", p.WorkflowName())
		if !ok {
			return "", c, p.MayBegin()
		}
		return name, c, nil
	}
	c, ok := p.Config.Agents[name]
	if !ok {
		return "", c, &problem.Error{Err: fmt.Errorf("there is no agent %q in %s", name, config.Name), Code: problem.Usage,
			Hint: "want an agent of " + config.Name + ", or a program by its path: --agent ./agent.sh"}
	}
	return name, c, nil
}

// Reporter is the path at which the agent finds our own program. The agent gets the whole path, since some run commands in a login
// shell, which sets its own PATH.
func (at *SessionPlace) Reporter() string {
	dir, err := store.SessionDir(at.Name)
	if err != nil { // no session has such a name
		return "signalbox"
	}
	return filepath.Join(at.Root, filepath.FromSlash(dir), "bin", "signalbox")
}

// linkReporter makes a link to our own program there, and returns what the agent must see: the link's folder, then the program.
func (at *SessionPlace) linkReporter() (reads []string, err error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	link := at.Reporter()
	bin := filepath.Dir(link)
	if err := session.OwnFolder(bin); err != nil {
		return nil, fmt.Errorf("make folder for own program: %w", err)
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("link own program: %w", err)
	}
	if err := os.Symlink(self, link); err != nil {
		return nil, fmt.Errorf("link own program: %w", err)
	}
	return []string{bin, self}, nil
}
