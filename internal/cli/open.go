package cli

import (
	"context"
	"fmt"

	"signalbox/internal/app"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

// project is everything that a command works on.
type project struct {
	*invocation
	*app.App
}

// open finds the project around the working directory.
func (a *invocation) open(ctx context.Context) (*project, error) {
	p, err := app.Open(ctx, a.Opener)
	return &project{a, p}, err
}

// openTrusted opens the project for a command that obeys its configuration.
func (a *invocation) openTrusted(ctx context.Context) (*project, error) {
	p, err := app.Open(ctx, a.Opener)
	if err == nil {
		p, err = p.Trusted(ctx)
	}
	return &project{a, p}, err
}

// openRun opens the project and finds a run in it.
func (a *invocation) openRun(ctx context.Context, ref string) (p *project, found store.RunSummary, err error) {
	if p, err = a.open(ctx); err == nil {
		found, err = p.Find(ctx, ref)
	}
	return p, found, err
}

// warn says of a configuration that does not hold what it would have said, where a run is only
// looked at.
func (p *project) warn() {
	if p.ConfigError != nil {
		_, _ = fmt.Fprintf(p.Err, "%s %s\n", p.paint(yellow, "warning:"), redact.Clean(p.ConfigError.Error()))
	}
}
