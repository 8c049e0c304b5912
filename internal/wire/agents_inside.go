package wire

import (
	"cmp"
	"context"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/config"
	"signalbox/internal/process"
)

// TryInside tries the agent's program where it is to work, and says if that was not done.
func (p *Project) TryInside(ctx context.Context, try func(context.Context, process.Executor) error) (says string, err error) {
	if p.Unsandboxed() {
		return "", nil
	}
	inside, ok := p.Environments.(tryer)
	if !ok {
		return "; not tried inside a container", nil
	}
	if _, err := p.Environments.Check(ctx); err != nil { // which is said where isolation is
		return "; not tried inside", nil
	}
	return "", try(ctx, tryIn{inside})
}

// Starting asks an agent that is known for its version. Any other program is only looked for: what it would do is its own affair.
func (p *Project) Starting(name string, c config.Agent) func(context.Context, process.Executor) error {
	v, known := VendorOf(c.Driver)
	path := cmp.Or(c.Program, c.Driver)
	if len(c.Command) > 0 {
		path = c.Command[0]
	}
	if strings.Contains(path, "/") {
		path = p.Abs(path)
	}
	program := agent.Program{Agent: name, Title: v.Title, Oldest: v.Oldest, Install: v.Install, Args: []string{path}, Env: c.Env}
	if !known {
		return program.FindIn
	}
	return func(ctx context.Context, exec process.Executor) error {
		_, err := program.VersionIn(ctx, exec)
		return err
	}
}

// tryer is a driver of environments in which a command can run before there is one.
type tryer interface {
	Try(ctx context.Context, c process.Command) (process.Result, error)
}

type tryIn struct{ tryer }

// Exec implements process.Executor.
func (t tryIn) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	return t.Try(ctx, c)
}
