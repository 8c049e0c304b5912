package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/command"
	"signalbox/internal/agent/replay"
	"signalbox/internal/config"
	"signalbox/internal/gateway"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/store"
	"signalbox/internal/wire/folder"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/budget"
)

// Agents builds the agent of every role that has one.
func (p *Project) Agents(ctx context.Context) (map[workflow.Role]agent.Agent, error) {
	agents := map[workflow.Role]agent.Agent{}
	for _, role := range workflow.Roles {
		name, c, ok := p.Config.AgentFor(string(role), p.WorkflowName())
		if !ok {
			continue
		}
		built, err := p.Agent(ctx, name, c)
		if err != nil {
			return nil, err
		}
		agents[role] = built
	}
	return agents, nil
}

// named are the agents of a run that began with --agent PROGRAM.
func (p *Project) named(ctx context.Context, program string) (map[workflow.Role]agent.Agent, error) {
	own := *p
	onlyAgent(&own.Config, program)
	return own.Agents(ctx)
}

// PerDay is what the agents of all runs may use in a day.
func (p *Project) PerDay() budget.Amount {
	s := p.Config.Limits.PerDay
	return budget.Amount{Tokens: s.Tokens, CostMicroUSD: int64(s.CostUSD * 1e6), Calls: s.Calls}
}

// WorkflowName is the configured workflow's name; settings reports a broken one.
func (p *Project) WorkflowName() string {
	name, _, _ := workflow.WorkflowPhases(p.Config.Workflow...)
	return name
}

// Agent builds one agent, whose calls count in the day's budget.
func (p *Project) Agent(ctx context.Context, name string, c config.Agent) (built agent.Agent, err error) {
	v, known := VendorOf(c.Driver)
	switch {
	case known:
		built, err = p.vendorAgent(ctx, name, v, c)
	case c.Permissions == config.PermissionsAsk:
		return nil, &problem.Error{Err: fmt.Errorf("agent %q: permissions %q: the driver %s does not know how its agent asks", name, c.Permissions, c.Driver),
			Hint: "leave permissions out; the environment limits what it may reach"}
	case c.Driver == config.DriverReplay:
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find own program: %w", err)
		}
		built, err = replay.New(replay.Config{Name: name, Program: []string{self, ReplayAgentName}, Script: folder.Within(p.Root, c.Script), Env: c.Env})
		if err != nil {
			return nil, err
		}
	default:
		args := slices.Concat(c.Command, c.Args)
		if strings.Contains(args[0], "/") {
			args[0] = folder.Within(p.Root, args[0])
		}
		built, err = command.New(command.Config{Name: name, Command: args, Prompt: command.Prompt(c.Prompt), Env: c.Env})
	}
	day := p.ledger()
	if err != nil || day == nil {
		return built, err
	}
	_, itself := built.(*gateway.Guarded)
	return day.Counted(built, !itself), nil
}

// ledger counts the day's calls; nil without a limit.
func (p *Project) ledger() *gateway.Ledger {
	if l := p.PerDay(); p.day == nil && l != (budget.Amount{}) {
		p.day = gateway.NewLedger(gateway.LedgerConfig{Root: p.Root, Dir: store.SpendingDir, Clock: time.Now,
			Budget: gateway.Spending{Tokens: l.Tokens, CostMicroUSD: l.CostMicroUSD}, Calls: int64(l.Calls)})
	}
	return p.day
}

// vendorAgent builds an agent of a known vendor, with its way to its model.
func (p *Project) vendorAgent(ctx context.Context, name string, v vendor, c config.Agent) (agent.Agent, error) {
	usual := config.PermissionsEverything
	if p.Unsandboxed() {
		usual = config.PermissionsEdits
	}
	permissions := cmp.Or(c.Permissions, usual)
	if c.Driver == config.DriverCodex && permissions != config.PermissionsEverything && permissions != config.PermissionsAsk && !p.Unsandboxed() {
		return nil, &problem.Error{Err: fmt.Errorf("agent %q: for %s Codex needs a sandbox of its own, which doesn't work inside ours: it could not even read files", name, permissions),
			Hint: "set permissions: everything for it; the environment limits what it may reach"}
	}
	program := c.Program
	if strings.Contains(program, "/") {
		program = folder.Within(p.Root, program)
	}
	built, err := v.Build(agent.Settings{Name: name, Program: program, Model: c.Model, Args: c.Args, Env: c.Env,
		Permissions: agent.Permissions(permissions), ProjectSettings: c.ProjectSettings})
	if err != nil {
		return nil, &problem.Error{Err: err, Hint: "fix agents." + name + " in " + config.Name}
	}
	built = unasked(built, p.Root, agent.Program{Agent: name, Args: []string{cmp.Or(program, v.Driver)}, Env: c.Env}, c)
	login, _, _ := p.LoginOf(v, c)
	w := p.WayOf(v, c)
	switch {
	case w.Problem != "":
		return unable{built, agent.NoRoute, w.Problem + ": " + w.Next}, nil
	case login == config.LoginKey:
		return p.guarded(ctx, name, withoutLogin{built, v.login}, w, c)
	case c.Login == config.LoginKey:
		return nil, &problem.Error{Err: fmt.Errorf("agent %q: there is no key in %s", name, cmp.Or(v.Server(c).Key, "any variable: set agents."+name+".key")),
			Hint: "export it, or set agents." + name + ".login: own"}
	case login == config.LoginOwn:
		return p.withOwnLogin(built, v, c), nil
	case login == "" && p.NeedsLogin(v, c):
		return unable{built, agent.Unauthorized, "there is no key and no login for it: " + p.LogIn(v, c)}, nil
	}
	return built, nil
}

// NeedsLogin: without a key or a login that we find, the agent can't reach its model. If it has variables or arguments of its
// own, we can't tell.
func (p *Project) NeedsLogin(v vendor, c config.Agent) bool {
	return v.models != "" && len(c.Env)+len(c.Args) == 0 && !slices.ContainsFunc(p.Config.Environment.Variables, secretName)
}

// LogIn is what the user types so that the agent reaches its model.
func (p *Project) LogIn(v vendor, c config.Agent) string {
	return fmt.Sprintf("export %s=…, or start %s once and log in", v.Server(c).Key, cmp.Or(c.Program, v.Driver))
}

// MayRun says why no new run can begin: MayBegin's reason, or an agent that can't reach its model. It is nil if one can.
func (p *Project) MayRun() error {
	may := p.MayBegin()
	for _, role := range workflow.Roles {
		name, c, ok := p.Config.AgentFor(string(role), p.WorkflowName())
		v, known := VendorOf(c.Driver)
		if !ok || !known {
			continue
		}
		if err := p.MayCallBy(name, v, c); err != nil {
			return errors.Join(may, err)
		}
	}
	return may
}

// MayCallBy says why one agent can't reach its model, nil if it can.
func (p *Project) MayCallBy(name string, v vendor, c config.Agent) error {
	if w := p.WayOf(v, c); w.Problem != "" {
		return &problem.Error{Err: fmt.Errorf("agent %q (%s): %s", name, v.Title, w.Problem), Hint: w.Next}
	}
	if !p.NeedsLogin(v, c) {
		return nil
	}
	if login, _, _ := p.LoginOf(v, c); login != "" {
		return nil
	}
	return &problem.Error{Err: fmt.Errorf("agent %q (%s) has no key and no login, so it would not reach its model", name, v.Title), Hint: p.LogIn(v, c)}
}

// unable is an agent that can't reach its model, so its program isn't started.
type unable struct {
	agent.Agent
	code agent.FailureCode
	why  string
}

// Run implements agent.Agent.
func (a unable) Run(context.Context, agent.Task, process.Executor) (agent.Result, error) {
	return agent.Result{Failure: agent.Fail(a.code, "%s", a.why)}, nil
}

// guarded lets the agent reach its model only through the gateway, which holds the key.
func (p *Project) guarded(ctx context.Context, name string, a agent.Agent, w Way, c config.Agent) (agent.Agent, error) {
	if w.Url == "" {
		return nil, &problem.Error{Err: fmt.Errorf("agent %q: the model %q names no known vendor", name, c.Model),
			Hint: "name it as anthropic/…, openai/… or google/…, or set agents." + name + ".url and key"}
	}
	if err := p.startGateway(ctx); err != nil {
		return nil, err
	}
	prices := map[string]gateway.Price{}
	for model, price := range c.Prices {
		prices[model] = gateway.Price{Input: price.Input, Cached: price.Cached, Output: price.Output}
	}
	how := gateway.SessionConfig{Upstream: w.Url, Source: w.from, Insecure: w.from != "", Key: w.value, Bearer: w.bearer, Headers: w.headers, Prices: prices}
	if day := p.ledger(); day != nil {
		how.Shared = []gateway.Budget{day}
	}
	return p.Gateway.Guard(a, how), nil
}

func (p *Project) startGateway(ctx context.Context) error {
	if p.Gateway != nil {
		return nil
	}
	roots, err := p.Certificates()
	if err != nil {
		return err
	}
	p.Gateway = gateway.New(gateway.Config{Clock: time.Now, Logger: p.Log, Proxy: p.Proxy(), Roots: roots()})
	return p.Gateway.Start(ctx)
}

// Unsandboxed reports whether commands run on this machine as the user, without a sandbox.
func (p *Project) Unsandboxed() bool {
	return p.Config.Environment.Driver == config.DriverClone && p.Config.Environment.Sandbox == config.SandboxNone
}
