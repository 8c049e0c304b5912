// Package perform performs the actions of a run. What an action does depends on
// the run's document alone. A process that died may have performed it before, in
// part or wholly, so each action first looks for its own results. The package
// refuses to decide what follows: it returns facts.
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
	"signalbox/internal/language"
	"signalbox/internal/perform/announce"
	"signalbox/internal/permission"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// Config is what actions need. All but Access, Language, Detect, Settings, Program, Named, MayCall, Prompts, Redact and Logger are required.
type Config struct {
	Artifacts Artifacts
	Repo      *git.Repo
	Forge     forge.Forge
	// Language is that of comments on the forge.
	Language language.Language
	// Access says with what the forge is reached; nil if it is on this machine.
	Access       func() Access
	Environments environment.Driver
	Places       *place.Places
	// IssueStatus is the document that tells other programs how an issue is doing.
	IssueStatus func(issue int) engine.Document[registry.IssueStatus]
	// Baseline remembers what tests came to, for later runs.
	Baseline engine.Document[Baseline]
	// Sessions lists the project's sessions by name.
	Sessions func(ctx context.Context) ([]string, error)
	// Detect derives an environment from the project's files at a commit; language is the task's, empty if it has none.
	Detect func(ctx context.Context, commit, language string) (workflow.Detection, error)
	// Settings returns the present settings for a run of the request; nil keeps each run's own.
	Settings func(request forge.Request) (workflow.Settings, error)
	// Agents are the agents by role. The workflow skips a missing role.
	Agents map[workflow.Role]agent.Agent
	// Program implements requests, by a person's choice for this process; Agents has it. Named builds the agents of a
	// run that resumes with an earlier such choice; nil if there is no such run.
	Program string
	Named   func(ctx context.Context, program string) (map[workflow.Role]agent.Agent, error)
	// MayCall returns, without calling a model, why one of the run's agents can't be called where inside runs commands. A
	// person has to resolve an *AgentError. program is a person's choice for the run. Nil checks nothing.
	MayCall func(ctx context.Context, program string, roles []workflow.Role, inside process.Executor) error
	// Rules answer an agent's questions without a person, by its role.
	Rules map[workflow.Role]permission.Rules
	// Prompts are the project's own prompts by role, made by PromptTemplate.
	Prompts map[workflow.Role]*template.Template
	// Isolation is what isolates commands from this machine from now on: "bubblewrap", "container" or "none".
	Isolation string
	// Ask returns the command that starts a service in an environment and sends it a health check's request.
	Ask func(workflow.HealthCheck) process.Command
	// Agreements remembers which setups people agreed to; nil remembers none, so each run asks.
	Agreements Agreements
	Commits    Commits
	// Offline: the configuration gives commands no network, so a network failure doesn't pass by itself.
	Offline bool
	Clock   engine.Clock
	Redact  *redact.Redactor
	Logger  *slog.Logger
}

// Performer performs actions. It implements engine.Performer.
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

// cache has what was found for a run since Begin. It only saves time: without it, an engine gets the same results unless the
// project changes meanwhile.
type cache struct {
	agents map[workflow.Role]agent.Agent
	// env is attached once, and again if a plan chose an environment with another image.
	env   environment.Environment
	image string
	// asked is the request. Reading it means reading all requests, or asking a server.
	asked *forge.Request
	shown shown
	// announced is what people on the forge were told.
	announced *announce.Run
}

func (p *Performer) newCache() *cache {
	return &cache{agents: p.Agents, announced: announce.New(announce.Config{Forge: p.Forge, Language: p.Language, Clock: p.Clock, Redact: p.Redact, Logger: p.Logger})}
}

// execution is one action of one run in progress.
type execution struct {
	*Performer
	*cache
	run workflow.Run
	// presence begins as the run's and goes into the outcome.
	presence workflow.Presence
	progress engine.Progress
}

func (p *Performer) of(run workflow.Run) *execution {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.caches[run.RunID]
	if c == nil {
		c = p.newCache()
		p.caches[run.RunID] = c
	}
	return &execution{Performer: p, cache: c, run: run, presence: run.Details.Presence}
}

// Begin implements engine.Performer. It gives the run the program that a person chose for it before, unless one is chosen now.
func (p *Performer) Begin(ctx context.Context, run workflow.Run) error {
	c := p.newCache()
	if program := run.Details.Program; program != "" && p.Program == "" && p.Named != nil && !run.State.Final() {
		agents, err := p.Named(ctx, program)
		if err != nil {
			return fmt.Errorf("continue with %q: %w", program, err)
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

// Sweep implements engine.Performer. It ends orphans only: a living engine owns its processes, even if it lost its lock.
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
