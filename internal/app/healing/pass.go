package healing

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/place"
	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Pass says how to make one pass.
type Pass struct {
	// Every overrides the configuration unless it is 0.
	Every time.Duration
	// Unattended: a change that waits for approval counts as failed.
	Unattended bool
	// Carry runs a repair and shows its progress; Tell hears what happens, in lines.
	Carry func(context.Context, heal.Repair) (workflow.Run, error)
	Tell  func(line string)
}

// Make makes a pass in an opened project that obeys its configuration, and closes the project's documents. If the report has no result,
// no pass was made; if there is an error beside a result, it prevented one repair.
func (c Pass) Make(ctx context.Context, p *app.App) (report heal.Report, err error) {
	defer func() { err = errors.Join(err, p.Store.Close()) }()
	if p.ConfigError != nil {
		return report, p.ConfigError
	}
	p.Config.Workflow = config.Lines{workflow.WorkflowHeal}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the gateway
	healer := c.healer(p)
	healer.Unattended = c.Unattended
	report, err = healer.Pass(ctx)
	var held *store.HeldError
	switch {
	case err != nil && ctx.Err() != nil:
		return report, &problem.Error{Err: errors.New("interrupted; the next pass continues what was begun"), Hint: "go on: signalbox heal"}
	case errors.As(err, &held):
		return report, &problem.Error{Code: problem.Held, Err: fmt.Errorf("another process looks after the project's health: %s", app.Holder(held.Holder)),
			Hint: "see what it finds: signalbox heal status"}
	case errors.Is(err, heal.ErrNoChecks):
		return report, errWithoutChecks
	}
	return report, wire.Explained(err)
}

// healer configures a pass with the project's checks.
func (c Pass) healer(p *app.App) heal.Config {
	every := c.Every
	if every == 0 {
		every = p.Config.Health.Every
	}
	if every <= 0 {
		every = health.Interval
	}
	h := heal.Config{Store: p.Store, Forge: p.Forge, Tests: p.Config.Tests, Every: every, Root: p.Root, Place: func(ctx context.Context) (heal.Place, error) { return checkSandbox(ctx, p) }, Ask: p.Ask,
		Run: c.Carry, Redact: p.Redact, Clock: p.Now, Observe: c.Tell, Logger: p.Log,
		ID: func() string { return p.Now().UTC().Format("20060102-150405-") + rand.Text()[:6] }}
	for _, check := range p.Config.Health.Checks {
		h.Checks = append(h.Checks, healthCheck(p, check))
	}
	if branches, ok := p.Forge.(forge.Branches); ok {
		h.Branch = func(ctx context.Context) (forge.Check, error) {
			base, err := p.Base(ctx)
			if err != nil {
				return forge.Check{}, err
			}
			return branches.BranchCheck(ctx, base)
		}
	}
	return h
}

// lookLimit is the default time limit of a check; branch tests have the limit of tests.
const lookLimit = time.Minute

var severities = map[string]workflow.Severity{config.SeverityBlocker: workflow.Blocker, "": workflow.Major, config.SeverityMajor: workflow.Major,
	config.SeverityMinor: workflow.Minor}

// healthCheck is a check of the configuration, with defaults for what it leaves out.
func healthCheck(p *app.App, c config.Check) workflow.HealthCheck {
	limit := c.TimeLimit
	if limit == 0 {
		limit = lookLimit
		if c.Kind == config.CheckBranchTests {
			limit = time.Duration(wire.Limits(p.Config.Limits).TestTotalSec*max(1, len(p.Config.Tests))) * time.Second
		}
	}
	check := workflow.HealthCheck{ID: c.ID, Kind: workflow.HealthCheckKind(c.Kind), Severity: severities[c.Severity], Command: c.Command,
		File: c.File, Pattern: c.Pattern, Rerun: c.Rerun, Recipe: c.Recipe, TimeLimitMS: max(1, limit.Milliseconds()), Looks: 2, IntervalSec: wire.Whole(c.Interval)}
	if c.Confirm != nil && !*c.Confirm || c.Kind == config.CheckLog || c.Kind == config.CheckForgeCI { // these always give the same answer again
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

// checkSandbox is a sandbox at the tip of the branch that repairs are merged into.
func checkSandbox(ctx context.Context, p *app.App) (heal.Place, error) {
	if _, err := p.Environments.Check(ctx); err != nil {
		return nil, err
	}
	base, err := p.Base(ctx)
	if err != nil {
		return nil, err
	}
	commit, err := p.Repo.Resolve(ctx, "refs/heads/"+base)
	if err != nil {
		return nil, fmt.Errorf("find branch %q: %w", base, err)
	}
	settings := workflow.Settings{Limits: wire.Limits(p.Config.Limits)}
	p.EnvironmentSettings(&settings)
	return place.CheckSandboxes{Root: p.Root, Base: base, Environments: p.Environments, Detect: p.Detect, Settings: settings, Logger: p.Log}.Open(ctx, commit)
}
