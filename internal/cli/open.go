package cli

import (
	"context"
	"fmt"

	"signalbox/internal/redact"
	"signalbox/internal/wire"
)

// project is everything that a command works on.
type project struct {
	*invocation
	*wire.Project
}

// open finds the project around the working directory.
func (a *invocation) open(ctx context.Context) (*project, error) {
	p, err := a.Opener.Open(ctx)
	return &project{a, p}, wire.Explained(err)
}

// warn says of a configuration that does not hold what it would have said, where a run is only
// looked at.
func (p *project) warn() {
	if p.ConfigError != nil {
		_, _ = fmt.Fprintf(p.Err, "%s %s\n", p.paint(yellow, "warning:"), redact.Clean(p.ConfigError.Error()))
	}
}
