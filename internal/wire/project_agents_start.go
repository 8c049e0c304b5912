package wire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/config"
	"signalbox/internal/perform"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

// mayCallInside is the runner's MayCall: the programs of the run's agents start where they are to work, in a version that is known
// to work, and the servers that the user named for their models answer. Nothing of it is paid for. Doctor asks the same.
func (p *Project) mayCallInside(ctx context.Context, program string, roles []workflow.Role, inside process.Executor) error {
	own := p
	if program != "" && p.Overrides.Agent == "" {
		other := *p
		other.Config.Agents = maps.Clone(p.Config.Agents)
		onlyAgent(&other.Config, program)
		own = &other
	}
	asked := map[string]bool{}
	for _, role := range roles {
		name, c, ok := own.Config.AgentFor(string(role), own.WorkflowName())
		if !ok || asked[name] {
			continue
		}
		asked[name] = true
		if err := own.mayBeCalled(ctx, name, c, inside); err != nil {
			err.Role = role
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (p *Project) mayBeCalled(ctx context.Context, name string, c config.Agent, inside process.Executor) *perform.AgentError {
	v, known := VendorOf(c.Driver)
	if !known && c.Driver != config.DriverCommand { // a script of ours
		return nil
	}
	// One that starts and does not tell its version may work all the same.
	if err := p.Starting(name, c)(ctx, inside); errors.Is(err, agent.ErrUnseen) || errors.Is(err, agent.ErrTooOld) {
		next := workflow.SeeDoctor
		if errors.Is(err, agent.ErrTooOld) && v.Install != "" {
			next = workflow.NextStep{Program: strings.Fields(v.Install + "@latest")}
		}
		return &perform.AgentError{Code: string(agent.Unavailable), Next: next, Err: err}
	}
	if !known {
		return nil
	}
	if err := p.MayCallBy(name, v, c); err != nil {
		next := workflow.SeeDoctor
		if known := (*problem.Error)(nil); errors.As(err, &known) && known.Hint != "" {
			next = workflow.Advice(known.Hint)
		}
		return &perform.AgentError{Code: string(agent.NoRoute), Next: next, Err: err}
	}
	w := p.WayOf(v, c)
	if login, _, _ := p.LoginOf(v, c); login != config.LoginKey || w.Place() == "" {
		return nil
	}
	if err := p.startGateway(ctx); err != nil {
		return nil // its call says so, before anything is sent
	}
	return p.Reach(ctx, w)
}

// Reach says why nothing answers where the user or the configuration says that the agent's model is, nil if anything does.
func (p *Project) Reach(ctx context.Context, w Way) *perform.AgentError {
	permanent, err := p.Gateway.Reach(ctx, w.Url, !w.configured)
	if err == nil {
		return nil
	}
	return &perform.AgentError{Code: string(agent.NoRoute), Passing: !permanent, Err: fmt.Errorf("its model at %s (%s): %w", ShownURL(w.Url), w.Place(), err),
		Next: workflow.Advice("start it, correct the address in " + w.Place() + ", or unset that for the vendor's own server")}
}
