package heal

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/place"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// healer performs a pass with the project's drivers. every wins over the configuration unless it is 0.
func healer(p *command.Project, every time.Duration) *heal.Healer {
	if every == 0 {
		every = healthEvery(p)
	}
	c := heal.Config{Store: p.Store, Forge: p.Forge, Tests: p.Config.Tests, Every: every, Root: p.Root, Place: func(ctx context.Context) (heal.Place, error) { return checkSandbox(ctx, p) }, Ask: p.Ask,
		Carry: func(ctx context.Context, repair heal.Repair) (workflow.Run, error) { return repaired(ctx, p, repair) }, Redact: p.Redact, Clock: p.HealthTime, Observe: func(line string) { tellPass(p, line) }, Logger: p.Log,
		ID: func() string { return p.HealthTime().UTC().Format("20060102-150405-") + rand.Text()[:6] }}
	for _, check := range p.Config.Health.Checks {
		c.Checks = append(c.Checks, healthCheck(p, check))
	}
	if branches, ok := p.Forge.(forge.Branches); ok {
		c.Branch = func(ctx context.Context) (forge.Check, error) {
			base, err := p.Base(ctx)
			if err != nil {
				return forge.Check{}, err
			}
			return branches.BranchCheck(ctx, base)
		}
	}
	return heal.New(c)
}

func healthEvery(p *command.Project) time.Duration {
	if p.Config.Health.Every > 0 {
		return p.Config.Health.Every
	}
	return health.Interval
}

// lookLimit is how long a look may take where the configuration is silent; tests have the limit of tests.
const lookLimit = time.Minute

var severities = map[string]workflow.Severity{config.SeverityBlocker: workflow.Blocker, "": workflow.Major, config.SeverityMajor: workflow.Major,
	config.SeverityMinor: workflow.Minor}

// healthCheck is a check of the configuration with what it leaves to us.
func healthCheck(p *command.Project, c config.Check) workflow.HealthCheck {
	limit := c.TimeLimit
	if limit == 0 {
		limit = lookLimit
		if c.Kind == config.CheckBranchTests {
			limit = time.Duration(wire.Limits(p.Config.Limits).TestTotalSec*max(1, len(p.Config.Tests))) * time.Second
		}
	}
	check := workflow.HealthCheck{ID: c.ID, Kind: workflow.HealthCheckKind(c.Kind), Severity: severities[c.Severity], Command: c.Command,
		File: c.File, Pattern: c.Pattern, Rerun: c.Rerun, Recipe: c.Recipe, TimeLimitMS: max(1, limit.Milliseconds()), Looks: 2, IntervalSec: wire.Whole(c.Interval)}
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
func checkSandbox(ctx context.Context, p *command.Project) (heal.Place, error) {
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

func tellPass(p *command.Project, line string) {
	if !p.JSON {
		p.Print("%s %s\n", commandline.Clock(time.Now()), redact.Line(line, 300))
	}
}

// repaired carries a repair and shows its progress.
func repaired(ctx context.Context, p *command.Project, repair heal.Repair) (run workflow.Run, err error) {
	_, err = display.Watching(p.Invocation, false, func(watch app.Watcher) ([]app.Result, error) {
		run, err = p.CarryRepair(ctx, repair, watch)
		return nil, err
	})
	return run, err
}
