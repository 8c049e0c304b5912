package command

import (
	"context"
	"fmt"

	"signalbox/internal/app"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

// Project is everything that a command works on.
type Project struct {
	*Invocation
	*app.App
}

// Open finds the project around the working directory.
func (a *Invocation) Open(ctx context.Context) (*Project, error) {
	p, err := app.Open(ctx, a.Opener)
	return &Project{a, p}, err
}

// OpenTrusted opens the project for a command that obeys its configuration.
func (a *Invocation) OpenTrusted(ctx context.Context) (*Project, error) {
	p, err := app.Open(ctx, a.Opener)
	if err == nil {
		p, err = p.Trusted(ctx)
	}
	return &Project{a, p}, err
}

// OpenRun opens the project and finds a run in it.
func (a *Invocation) OpenRun(ctx context.Context, ref string) (p *Project, found store.RunSummary, err error) {
	if p, err = a.Open(ctx); err == nil {
		found, err = p.Find(ctx, ref)
	}
	return p, found, err
}

// WarnOfConfig says of a configuration that does not hold what it would have said, where a run is only
// looked at.
func (p *Project) WarnOfConfig() {
	if p.ConfigError != nil {
		_, _ = fmt.Fprintf(p.Err, "%s %s\n", p.Paint(Yellow, "warning:"), redact.Clean(p.ConfigError.Error()))
	}
}
