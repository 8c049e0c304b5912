package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/engine"
	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/gateway"
	"signalbox/internal/git"
	"signalbox/internal/perform"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// project is everything that a command works on.
type project struct {
	*app
	root       string
	repo       *git.Repo
	store      *store.Store
	config     config.Config
	configured bool
	// configError is why the file's settings do not hold. Runs can be looked at all the same.
	configError error
	// trust says whether what the file does to this machine counts; where it does not, config is without it.
	trust        trust
	redact       *redact.Redactor
	environments environment.Driver
	forge        forge.Forge
	// gateway is started by the first agent that reaches its model through it.
	gateway *gateway.Gateway
	// day is what agents may use in a day, in this process and others; nil where nothing limits it.
	day *gateway.Ledger
}

// open finds the project around the working directory.
func (a *app) open(ctx context.Context) (*project, error) {
	p, err := a.openProject(ctx)
	return p, explained(err)
}

func (a *app) openProject(ctx context.Context) (*project, error) {
	repo, err := git.Open(ctx, a.gitHost(), a.Dir)
	if err != nil {
		return nil, err
	}
	p := &project{app: a, root: repo.Root(), repo: repo}
	if err := p.configure(ctx); err != nil {
		return nil, err
	}
	if err := a.flags.apply(&p.config, p.root); err != nil {
		return nil, err
	}
	p.redact = redact.New(p.secrets())
	if p.trust.standing != standsWithheld {
		brought, err := p.includedSecrets(ctx)
		if err != nil { // a run cannot bring them either, and says so
			p.app.warn("the secrets in what %s matches are not known: %v", includeName, err)
		}
		p.redact.Add(brought)
	}
	a.mask.use(p.redact)
	p.store, err = store.Open(ctx, store.Config{Root: p.root, Redact: p.redact.String, Logger: a.log})
	if err != nil {
		return nil, err
	}
	if err := hide(repo.GitDir()); err != nil {
		return nil, err
	}
	p.settleLogins()
	p.environments = p.driver()
	p.forge = local.New(local.Config{Repo: repo, Store: p.store, Root: p.root, Test: p.testCandidate, Sign: git.Signing(p.config.Commit.Sign),
		Unpublished: p.config.Push == config.PushNever, Logger: a.log})
	return p, nil
}

// configure reads the configuration, without what in it reaches this machine where that does not count.
func (p *project) configure(ctx context.Context) error {
	path := filepath.Join(p.root, config.Name)
	data, found, err := config.Read(path)
	if p.configured = found; err == nil {
		if p.trust, err = p.judgeTrust(ctx, data); err != nil {
			return err
		}
		if p.trust.standing == standsWithheld {
			p.config, err = config.ParseWithheld(path, data, p.Env, p.usedBy(source{}).unsandboxed)
		} else {
			p.config, err = config.Parse(path, data, p.Env)
		}
	}
	if err != nil {
		p.config = config.Default()
		p.configError = &problem{err: err, hint: mendConfiguration}
	}
	return nil
}

// mendConfiguration is what to do about a file whose settings do not hold.
const mendConfiguration = `mend the file; "signalbox init --print" shows a commented one`

// warn says of a configuration that does not hold what it would have said, where a run is only
// looked at.
func (p *project) warn() {
	if p.configError != nil {
		_, _ = fmt.Fprintf(p.Err, "%s %s\n", p.paint(yellow, "warning:"), redact.Clean(p.configError.Error()))
	}
}

// host runs programs on this machine and logs which, and how long each took.
func (a *app) host() process.Host {
	return process.Host{Observe: func(c process.Command, r process.Result) {
		a.log.Debug("program ended", "program", filepath.Base(c.Args[0]), "exit", r.ExitCode,
			"started", r.Started.Format(time.RFC3339Nano), "took", r.Duration)
	}}
}

func (p *project) testCandidate(ctx context.Context, c local.Candidate) (local.Verdict, error) {
	tester := perform.CandidateTester{Store: p.store, Environments: p.environments, Detect: p.detect, Redact: p.redact, Ask: p.ask}
	v, err := tester.Test(ctx, perform.Candidate{RequestID: c.Request, Pull: c.Pull, Commit: c.Commit, Tree: c.Tree})
	return local.Verdict{Passed: v.Passed, Unsettled: v.Unsettled, Known: v.Known, Command: v.Command, LogPath: v.LogPath, Summary: v.Summary, Duration: v.Duration}, err
}

// runner is what carries runs; observe is told of every transition.
func (p *project) runner(ctx context.Context, observe func(workflow.Run)) (*engine.Engine, error) {
	if p.configError != nil {
		return nil, p.configError
	}
	if p.trust.standing == standsWithheld && !p.withoutAgents {
		return nil, p.untrusted()
	}
	p.obeys = true
	if err := p.mayGoOut(); err != nil {
		return nil, err
	}
	if _, err := p.environments.Check(ctx); err != nil {
		return nil, explained(err)
	}
	agents, err := p.agents(ctx)
	if err != nil {
		return nil, err
	}
	if p.flags.agent != "" && p.config.Environment.Driver != config.DriverContainer { // an image has its own programs
		if _, err := agents[workflow.Implementer].Check(ctx); err != nil {
			return nil, p.notAnAgent(err)
		}
	}
	own, err := p.prompts()
	if err != nil {
		return nil, err
	}
	return p.engine(perform.Config{Prompts: own, Rules: p.rules(), Settings: p.settings, Agents: agents, Commits: p.commits(),
		Program: p.flags.agent, Named: p.named, MayCall: p.mayCallInside, Agreements: agreements{p}, Ask: p.ask, Places: p.places()}, p.notifying(ctx, observe)), nil
}

// engine is one whose actions are carried out with c, and with what belongs to the project.
func (p *project) engine(c perform.Config, observe func(workflow.Run)) *engine.Engine {
	c.Store, c.Repo, c.Forge, c.Environments, c.Detect, c.Redact, c.Logger = p.store, p.repo, p.forge, p.environments, p.detect, p.redact, p.log
	c.Isolation, c.Offline, c.Clock = p.isolation(), p.offline(), engine.Clock{Now: now, After: time.After}
	return engine.New(engine.Config{Runs: p.store, Locks: p.store, Performer: perform.New(c), Program: c.Program, MaxParallel: p.config.MaxParallel,
		Clock: c.Clock, Observe: observe, Logger: p.log})
}

// places are the environments of the project's runs.
func (p *project) places() *place.Places {
	return place.New(place.Config{Store: p.store, Repo: p.repo, Environments: p.environments, PerRun: p.perRun(), PerDay: p.perDay(), Now: now, Logger: p.log})
}

// commits is what the configuration says of commits.
func (p *project) commits() perform.Commits {
	c := perform.Commits{Sign: git.Signing(p.config.Commit.Sign), SignOff: p.config.Commit.SignOff}
	if p.config.Commit.Trailer != "none" {
		c.Trailer = perform.Trailer(p.config.Commit.Trailer)
	}
	return c
}

// notAnAgent says why what --agent names cannot work.
func (p *project) notAnAgent(err error) error {
	wrong := &problem{err: fmt.Errorf("--agent %s: %w", p.flags.agent, err), code: exitUsage,
		hint: "want an agent of " + config.Name + ", or a program by name or by its path from the project's root: --agent ./agent.sh"}
	c := p.config.Agents[p.flags.agent]
	configured := c.Driver != "" && !slices.Equal(c.Command, []string{p.flags.agent}) // else onlyAgent took it for a program
	if !configured && errors.Is(err, os.ErrNotExist) && !strings.Contains(p.flags.agent, "/") {
		wrong.err = fmt.Errorf("--agent %s: there is no such agent in %s, and no such program in PATH", p.flags.agent, config.Name)
	}
	return wrong
}
