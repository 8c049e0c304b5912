// Package wire opens a project: it reads the configuration, checks whether the user trusts it, and builds the drivers that it
// names. No other package names a driver. It prints nothing and decides nothing about a run.
package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"signalbox/internal/agent/login"
	"signalbox/internal/config"
	"signalbox/internal/engine"
	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/gateway"
	"signalbox/internal/git"
	"signalbox/internal/language"
	"signalbox/internal/perform"
	"signalbox/internal/permission"
	"signalbox/internal/place"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire/hosting"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/budget"
)

// The store keeps in files what the engine and the actions know by interfaces alone.
var (
	_ engine.Runs       = (*store.Store)(nil)
	_ engine.Locks      = (*store.Store)(nil)
	_ place.Runs        = (*store.Store)(nil)
	_ perform.Artifacts = (*store.Store)(nil)
)

// Project is an opened project with its drivers.
type Project struct {
	*Opener
	Root       string
	Repo       *git.Repo
	Store      *store.Store
	Config     config.Config
	Configured bool
	// ConfigError is why the file's settings don't count. Runs can be shown all the same.
	ConfigError error
	// Trust says whether the settings that reach this machine count; if not, Config is without them.
	Trust        trust
	Redact       *redact.Redactor
	Environments environment.Driver
	Forge        forge.Forge
	// Hosted is Forge if it is on a server; otherwise nil.
	Hosted *hosting.Forge
	// Gateway is started by the first agent that reaches its model through it.
	Gateway *gateway.Gateway
	// news is what was last told of each run.
	news *sync.Map
	// day counts what agents use in a day, in all processes; nil without a limit.
	day *gateway.Ledger
}

// Open finds the project around the working directory.
func (a *Opener) Open(ctx context.Context) (*Project, error) {
	repo, err := git.Open(ctx, a.GitHost(), a.Dir)
	if err != nil {
		return nil, err
	}
	p := &Project{Opener: a, Root: repo.Root(), Repo: repo, news: &sync.Map{}}
	if err := p.Configure(ctx); err != nil {
		return nil, err
	}
	if err := a.Overrides.apply(&p.Config); err != nil {
		return nil, err
	}
	p.Redact = redact.New(p.Secrets())
	if p.Trust.Standing != TrustWithheld {
		brought, err := p.includedSecrets(ctx)
		if err != nil { // a run can't copy them either, and says so
			p.Warn("the secrets in what %s matches are not known: %v", IncludeName, err)
		}
		p.Redact.Add(brought)
	}
	a.Learn(p.Redact)
	if err := p.foreignState(ctx); err != nil {
		return nil, err
	}
	p.Store, err = store.Open(ctx, store.Config{Root: p.Root, Redact: p.Redact.String, Logger: a.Log})
	if err != nil {
		return nil, err
	}
	if err := hide(repo.GitDir()); err != nil {
		return nil, err
	}
	// Tokens that were renewed in calls whose Signalbox was killed come back first: the command may remove the environment,
	// and the user's own agent needs the new token.
	lent, err := filepath.Glob(filepath.Join(p.Root, environmentsFolder, "*", clone.AgentsFolder))
	if err == nil {
		err = login.Reclaim(p.logins(), lent...)
	}
	if err != nil {
		p.Warn("a login that was renewed in an environment is not yet in its place: %v", err)
	}
	p.Environments = p.Driver()
	p.Forge = p.forge()
	return p, nil
}

// Configure reads the configuration. Without trust it leaves out the settings that reach this machine.
func (p *Project) Configure(ctx context.Context) error {
	path := filepath.Join(p.Root, config.Name)
	data, found, err := config.Read(path)
	if p.Configured = found; err == nil {
		if p.Trust, err = p.judgeTrust(ctx, data); err != nil {
			return err
		}
		if p.Trust.Standing == TrustWithheld {
			p.Config, err = config.ParseWithheld(path, data, p.Env, p.usedBy(source{}).unsandboxed)
		} else {
			p.Config, err = config.Parse(path, data, p.Env)
		}
		err = cmp.Or(err, p.Trust.Broken)
	}
	var set []string
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); p.Env(name) != "" {
			set = append(set, name)
		}
	}
	if err = errors.Join(config.Misspelt(set), err); err != nil {
		hint := FixConfiguration
		if v := (*config.VariableError)(nil); errors.As(err, &v) {
			hint = "correct the variable " + v.Name + ", or: unset " + v.Name
		}
		p.Config = config.Default()
		p.ConfigError = &problem.Error{Err: err, Hint: hint}
	}
	return nil
}

// FixConfiguration is what to do about a broken configuration file.
const FixConfiguration = `fix the file; "signalbox init --print" shows a commented one`

// Host runs programs on this machine, and logs each with its duration.
func (a *Opener) Host() process.Host {
	return process.Host{Observe: func(c process.Command, r process.Result) {
		a.Log.Debug("program ended", "program", filepath.Base(c.Args[0]), "exit", r.ExitCode,
			"started", r.Started.Format(time.RFC3339Nano), "took", r.Duration)
	}}
}

func (p *Project) testCandidate(ctx context.Context, c local.Candidate) (local.Verdict, error) {
	tester := perform.CandidateTester{Runs: p.Store, Artifacts: p.Store, Environments: p.Environments, Detect: p.Detect, Redact: p.Redact, Ask: p.Ask}
	v, err := tester.Test(ctx, perform.Candidate{RequestID: c.Request, Pull: c.Pull, Commit: c.Commit, Tree: c.Tree})
	return local.Verdict{Passed: v.Passed, Unsettled: v.Unsettled, Known: v.Known, Command: v.Command, LogPath: v.LogPath, Summary: v.Summary, Duration: v.Duration}, err
}

// Runner is the engine for runs with their agents; observe hears of every transition.
func (p *Project) Runner(ctx context.Context, observe func(workflow.Run)) (*engine.Engine, error) {
	if p.ConfigError != nil {
		return nil, p.ConfigError
	}
	onServer := slices.ContainsFunc(p.Trust.List, func(r config.Reach) bool { return r.Key == "forge.driver" })
	if p.Trust.Standing == TrustWithheld && (!p.WithoutAgents || onServer) {
		return nil, p.Untrusted()
	}
	p.Obeys = true
	if err := p.CheckProxy(); err != nil {
		return nil, err
	}
	switch _, err := p.Environments.Check(ctx); {
	case errors.Is(err, environment.ErrNoIsolation) && p.WithoutAgents:
		// Removing a run's environment starts nothing of the project: only our own git reads its files.
		p.Config.Environment.Sandbox = config.SandboxNone
		p.Environments = p.Driver()
	case err != nil:
		return nil, Explained(err)
	}
	agents, err := p.Agents(ctx)
	if err != nil {
		return nil, err
	}
	if p.Overrides.Agent != "" && p.Config.Environment.Driver != config.DriverContainer { // an image has its own programs
		if _, err := agents[workflow.Implementer].Check(ctx); err != nil {
			return nil, p.notAnAgent(err)
		}
	}
	own, err := p.Prompts()
	if err != nil {
		return nil, err
	}
	rules := map[workflow.Role]permission.Rules{} // they answer what agents ask
	for _, role := range workflow.Roles {
		if _, c, ok := p.Config.AgentFor(string(role), p.WorkflowName()); ok {
			rules[role] = permission.Rules{Allow: c.Allow, Deny: c.Deny}
		}
	}
	return p.Engine(perform.Config{Prompts: own, Rules: rules, Settings: p.settings, Agents: agents, Commits: p.Commits(),
		Program: p.Overrides.Agent, Named: p.named, MayCall: p.mayCallInside, Agreements: agreements{p}, Ask: p.Ask, Places: p.Places()}, p.notifying(ctx, observe)), nil
}

// Engine is an engine that performs its actions with c and the project's own drivers.
func (p *Project) Engine(c perform.Config, observe func(workflow.Run)) *engine.Engine {
	c.Repo, c.Forge, c.Environments, c.Detect, c.Redact, c.Logger = p.Repo, p.Forge, p.Environments, p.Detect, p.Redact, p.Log
	c.Artifacts, c.Sessions, c.Baseline = p.Store, p.Store.Sessions, store.Record[perform.Baseline](p.Store, "base", "tested")
	c.IssueStatus = func(issue int) engine.Document[registry.IssueStatus] { return p.Store.IssueStatus(issue) }
	if p.Hosted != nil {
		c.Access = p.Hosted.Access
	}
	c.Clock, c.Language = engine.Clock{Now: time.Now, After: time.After}, language.Language(p.Config.Forge.Language)
	c.Isolation = p.Config.Environment.Sandbox
	if p.Config.Environment.Driver == config.DriverContainer {
		c.Isolation = config.DriverContainer
	}
	c.Offline = p.Config.Environment.Network == config.NetworkNone && c.Isolation != config.SandboxNone // without a sandbox, nothing closes the network
	performer := perform.New(c)
	return engine.New(engine.Config{Runs: p.Store, Locks: p.Store, Performer: performer, Program: c.Program, MaxParallel: p.Config.MaxParallel,
		Clock: c.Clock, Observe: performer.Observing(observe), Logger: p.Log})
}

// Places are the environments of the project's runs, with their budgets.
func (p *Project) Places() *place.Places {
	l := Limits(p.Config.Limits)
	perRun := &budget.Amount{Tokens: l.Tokens, CostMicroUSD: l.CostMicroUSD, Calls: l.Calls}
	return place.New(place.Config{Runs: p.Store, Locks: p.Store, Registry: p.Store.Environments(), Repo: p.Repo, Environments: p.Environments,
		PerRun: perRun, PerDay: p.PerDay(), Now: time.Now, Logger: p.Log})
}

// Commits is what the configuration says about commits.
func (p *Project) Commits() perform.Commits {
	c := perform.Commits{Sign: git.Signing(p.Config.Commit.Sign), SignOff: p.Config.Commit.SignOff}
	if p.Config.Commit.Trailer != "none" {
		c.Trailer = perform.Trailer(p.Config.Commit.Trailer)
	}
	return c
}

// notAnAgent explains why --agent names nothing that works.
func (p *Project) notAnAgent(err error) error {
	wrong := &problem.Error{Err: fmt.Errorf("--agent %s: %w", p.Overrides.Agent, err), Code: problem.Usage,
		Hint: "want an agent of " + config.Name + ", or a program by name or by its path from the project's root: --agent ./agent.sh"}
	c := p.Config.Agents[p.Overrides.Agent]
	configured := c.Driver != "" && !slices.Equal(c.Command, []string{p.Overrides.Agent}) // a command of this one word comes from onlyAgent
	if !configured && errors.Is(err, os.ErrNotExist) && !strings.Contains(p.Overrides.Agent, "/") {
		wrong.Err = fmt.Errorf("--agent %s: there is no such agent in %s, and no such program in PATH", p.Overrides.Agent, config.Name)
	}
	return wrong
}
