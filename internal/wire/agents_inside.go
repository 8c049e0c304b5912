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
	program := agent.Program{Agent: name, Title: v.Title, Oldest: v.Oldest, Install: v.Install, Args: []string{p.programOf(c)}, Env: c.Env}
	if !known {
		return program.FindIn
	}
	return func(ctx context.Context, exec process.Executor) error {
		_, err := program.VersionIn(ctx, exec)
		return err
	}
}

func (p *Project) programOf(c config.Agent) string {
	program := cmp.Or(c.Program, c.Driver)
	if len(c.Command) > 0 {
		program = c.Command[0]
	}
	if strings.Contains(program, "/") {
		program = p.Abs(program)
	}
	return program
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

// CostTold says what a budget of money is worth where its models have no prices.
func (v vendor) CostTold() string {
	if v.reckons {
		return v.Title + " tells its cost when a call ends, and in a session at its own interface not at all, so a budget of money ends nothing meanwhile"
	}
	return v.Title + " tells no cost, so no budget of money holds for it"
}
