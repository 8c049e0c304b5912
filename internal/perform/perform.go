// Package perform carries out the actions of a run, one file per action. What
// an action does depends on the run's document, and it may have been carried
// out before, in part or wholly, by a process that died: each first looks for
// what it would make. It refuses to decide what follows: it returns facts.
package perform

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"text/template"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/engine"
	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/permission"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// Config is what actions are carried out with. All but Detect, Settings, Program, Named, MayCall, Prompts, Redact and Logger are required.
type Config struct {
	Artifacts    Artifacts
	Repo         *git.Repo
	Forge        forge.Forge
	Environments environment.Driver
	Places       *place.Places
	// IssueStatus is the document that tells other programs how an issue is doing.
	IssueStatus func(issue int) engine.Document[registry.IssueStatus]
	// Baseline remembers what tests came to, for later runs.
	Baseline engine.Document[Baseline]
	// Sessions lists the project's sessions by name.
	Sessions func(ctx context.Context) ([]string, error)
	// Detect reads what the project's files at a commit say of its environment; language is the task's, empty if it has none.
	Detect func(ctx context.Context, commit, language string) (workflow.Detection, error)
	// Settings are what the configuration says now of a run for the request; nil leaves every run its own.
	Settings func(request forge.Request) (workflow.Settings, error)
	// Agents are the agents by role. A role that is missing is skipped by the workflow.
	Agents map[workflow.Role]agent.Agent
	// Program is what a person named now to implement requests; Agents has it. Named builds the agents of
	// a run that goes on with a program which was named before; nil where there is no such run.
	Program string
	Named   func(ctx context.Context, program string) (map[workflow.Role]agent.Agent, error)
	// MayCall says for free why an agent that a run has in one of some roles could not be called where inside runs commands; an
	// *AgentError is a person's to settle. program is what a person named for the run. Nil asks nothing.
	MayCall func(ctx context.Context, program string, roles []workflow.Role, inside process.Executor) error
	// Rules answer what an agent asks without a person, by its role.
	Rules map[workflow.Role]permission.Rules
	// Prompts are the project's own prompts by role, made by PromptTemplate.
	Prompts map[workflow.Role]*template.Template
	// Isolation says what stands between a command and this machine from now on: "bubblewrap", "container" or "none".
	Isolation string
	// Ask is the command that starts a service in an environment and asks it what a health check asks.
	Ask func(workflow.HealthCheck) process.Command
	// Agreements remembers which setups people agreed to; nil remembers none, so that each run asks.
	Agreements Agreements
	// Commits says what the run's commits carry beside the user's name.
	Commits Commits
	// Offline: the configuration lets commands reach no network, so that none is waited for.
	Offline bool
	Clock   engine.Clock
	Redact  *redact.Redactor
	Logger  *slog.Logger
}

// Performer carries out actions. It implements engine.Performer.
type Performer struct {
	Config
	mu     sync.Mutex
	caches map[string]*cache // by run
}

// New returns a performer.
func New(c Config) *Performer {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Detect == nil {
		c.Detect = func(context.Context, string, string) (workflow.Detection, error) { return workflow.Detection{}, nil }
	}
	return &Performer{Config: c, caches: map[string]*cache{}}
}

// cache is what was found for a run since Begin. It saves time and nothing else: an engine that begins anew without it
// comes to the same, unless somebody changes the project meanwhile.
type cache struct {
	agents map[workflow.Role]agent.Agent
	// env is attached once, and again when a plan chose an environment with another image than its own.
	env   environment.Environment
	image string
	// asked is the request. Reading it means reading all of them, or asking a server.
	asked *forge.Request
	shown shown
}

// execution is one action of one run while it's carried out.
type execution struct {
	*Performer
	*cache
	run workflow.Run
	// presence begins as the run's, and goes into the outcome.
	presence workflow.Presence
	progress engine.Progress
}

func (p *Performer) of(run workflow.Run) *execution {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.caches[run.RunID]
	if c == nil {
		c = &cache{agents: p.Agents}
		p.caches[run.RunID] = c
	}
	return &execution{Performer: p, cache: c, run: run, presence: run.Details.Presence}
}

// Begin implements engine.Performer. It gives the run the program that a person named for it before, unless one is named now.
func (p *Performer) Begin(ctx context.Context, run workflow.Run) error {
	c := &cache{agents: p.Agents}
	if program := run.Details.Program; program != "" && p.Program == "" && p.Named != nil && !run.State.Final() {
		agents, err := p.Named(ctx, program)
		if err != nil {
			return fmt.Errorf("go on with %q: %w", program, err)
		}
		c.agents = agents
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.caches[run.RunID] = c
	return nil
}

// Holder implements engine.Performer: it finds the processes of a run by a variable in their environment.
func (p *Performer) Holder(ctx context.Context, run workflow.Run) (pid int, err error) {
	starters, err := process.Starters(ctx, place.RunVariable+"="+run.RunID)
	if err != nil || len(starters) == 0 {
		return 0, err
	}
	return starters[0], nil
}

// Sweep implements engine.Performer. It ends orphans alone: what an engine that lives has started is its own, even if its
// lock is lost.
func (p *Performer) Sweep(ctx context.Context, run workflow.Run) error {
	_, err := process.SweepOrphans(ctx, place.RunVariable+"="+run.RunID)
	return err
}

func (x *execution) logged(doing string, err error) {
	if err != nil {
		x.Logger.Warn(doing, "run", x.run.RunID, "err", err)
	}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
