package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// healer performs a pass with the project's drivers. every wins over the configuration unless it is 0.
func (p *project) healer(every time.Duration) *heal.Healer {
	if every == 0 {
		every = p.healthEvery()
	}
	c := heal.Config{Store: p.store, Forge: p.forge, Tests: p.config.Tests, Every: every, Root: p.root, Place: p.lookout, Ask: p.ask,
		Carry: p.carryRepair, Redact: p.redact, Clock: p.healthTime, Observe: p.tellPass, Logger: p.log,
		ID: func() string { return p.healthTime().UTC().Format("20060102-150405-") + rand.Text()[:6] }}
	for _, check := range p.config.Health.Checks {
		c.Checks = append(c.Checks, p.healthCheck(check))
	}
	if branches, ok := p.forge.(forge.Branches); ok {
		c.Branch = func(ctx context.Context) (forge.Check, error) {
			base, err := p.base(ctx)
			if err != nil {
				return forge.Check{}, err
			}
			return branches.BranchCheck(ctx, base)
		}
	}
	return heal.New(c)
}

func (p *project) healthEvery() time.Duration {
	if p.config.Health.Every > 0 {
		return p.config.Health.Every
	}
	return health.Interval
}

// lookLimit is how long a look may take where the configuration is silent; tests have the limit of tests.
const lookLimit = time.Minute

var severities = map[string]workflow.Severity{config.SeverityBlocker: workflow.Blocker, "": workflow.Major, config.SeverityMajor: workflow.Major,
	config.SeverityMinor: workflow.Minor}

// healthCheck is a check of the configuration with what it leaves to us.
func (p *project) healthCheck(c config.Check) workflow.HealthCheck {
	limit := c.TimeLimit
	if limit == 0 {
		limit = lookLimit
		if c.Kind == config.CheckBranchTests {
			limit = time.Duration(limits(p.config.Limits).TestTotalSec*max(1, len(p.config.Tests))) * time.Second
		}
	}
	check := workflow.HealthCheck{ID: c.ID, Kind: workflow.HealthCheckKind(c.Kind), Severity: severities[c.Severity], Command: c.Command,
		File: c.File, Pattern: c.Pattern, Rerun: c.Rerun, Recipe: c.Recipe, TimeLimitMS: max(1, limit.Milliseconds()), Looks: 2, IntervalSec: whole(c.Interval)}
	if c.Confirm != nil && !*c.Confirm || c.Kind == config.CheckLog || c.Kind == config.CheckForgeCI { // these say the same again
		check.Looks = 1
	}
	if c.Kind == config.CheckHTTP {
		check.HTTP = &workflow.HealthHTTP{Start: c.Start, URL: c.URL, Method: c.Method, Body: c.Body, Status: c.Status, Contains: c.Contains}
		if c.Method == "" {
			check.HTTP.Method = "GET"
		}
		if c.Status == 0 {
			check.HTTP.Status = 200
		}
	}
	return check
}

// lookout is a place at the tip of the branch that repairs are merged into.
func (p *project) lookout(ctx context.Context) (heal.Place, error) {
	if _, err := p.environments.Check(ctx); err != nil {
		return nil, err
	}
	base, err := p.base(ctx)
	if err != nil {
		return nil, err
	}
	commit, err := p.repo.Resolve(ctx, "refs/heads/"+base)
	if err != nil {
		return nil, fmt.Errorf("find branch %q: %w", base, err)
	}
	settings := workflow.Settings{Limits: limits(p.config.Limits)}
	p.environmentSettings(&settings)
	return place.CheckSandboxes{Root: p.root, Base: base, Environments: p.environments, Detect: p.detect, Settings: settings, Logger: p.log}.Open(ctx, commit)
}

// ask is our own program, which asks a service from inside.
func (p *project) ask(check workflow.HealthCheck) process.Command {
	self, err := ownProgram()
	if err != nil {
		p.log.Warn("find own program", "err", err) // what is started then says that it is not there
	}
	question, err := json.Marshal(check)
	if err != nil {
		p.log.Error("encode health check", "check", check.ID, "err", err) // it was decoded from text
	}
	return process.Command{Args: []string{self, "heal", probeName, string(question)}, Reads: []string{self}}
}

func ownProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(self)
}

func (p *project) tellPass(line string) {
	if !p.json {
		p.print("%s %s\n", clock(now()), redact.Line(line, 300))
	}
}
