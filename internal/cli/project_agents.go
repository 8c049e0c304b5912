package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/command"
	"signalbox/internal/agent/replay"
	"signalbox/internal/config"
	"signalbox/internal/gateway"
	"signalbox/internal/permission"
	"signalbox/internal/process"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// agents builds the agent of every role that has one.
func (p *project) agents(ctx context.Context) (map[workflow.Role]agent.Agent, error) {
	agents := map[workflow.Role]agent.Agent{}
	for _, role := range workflow.Roles {
		name, c, ok := p.config.AgentFor(string(role), p.workflowName())
		if !ok {
			continue
		}
		built, err := p.agent(ctx, name, c)
		if err != nil {
			return nil, err
		}
		agents[role] = built
	}
	return agents, nil
}

// named are the agents of a run that began with --agent.
func (p *project) named(ctx context.Context, program string) (map[workflow.Role]agent.Agent, error) {
	own := *p
	onlyAgent(&own.config, program)
	return own.agents(ctx)
}

// rules answer what agents ask, by their roles.
func (p *project) rules() map[workflow.Role]permission.Rules {
	rules := map[workflow.Role]permission.Rules{}
	for _, role := range workflow.Roles {
		if _, c, ok := p.config.AgentFor(string(role), p.workflowName()); ok {
			rules[role] = permission.Rules{Allow: c.Allow, Deny: c.Deny}
		}
	}
	return rules
}

// perRun is what the agents of one run may use.
func (p *project) perRun() *workflow.Spending {
	l := limits(p.config.Limits)
	return &workflow.Spending{Tokens: l.Tokens, CostMicroUSD: l.CostMicroUSD, Calls: l.Calls}
}

// perDay is what the agents of all runs may use in a day.
func (p *project) perDay() workflow.Spending {
	s := p.config.Limits.PerDay
	return workflow.Spending{Tokens: s.Tokens, CostMicroUSD: int64(s.CostUSD * 1e6), Calls: s.Calls}
}

// workflowName is the configured workflow's; a broken one is told of elsewhere.
func (p *project) workflowName() string {
	name, _, _ := workflow.WorkflowPhases(p.config.Workflow...)
	return name
}

// agent is one whose calls count in the day's budget.
func (p *project) agent(ctx context.Context, name string, c config.Agent) (agent.Agent, error) {
	built, err := p.uncounted(ctx, name, c)
	day := p.ledger()
	if err != nil || day == nil {
		return built, err
	}
	_, itself := built.(*gateway.Guarded)
	return day.Counted(built, !itself), nil
}

// ledger is what the day's calls are counted in; nil where nothing limits them.
func (p *project) ledger() *gateway.Ledger {
	if l := p.perDay(); p.day == nil && l != (workflow.Spending{}) {
		p.day = gateway.NewLedger(gateway.LedgerConfig{Root: p.root, Dir: store.SpendingDir, Clock: now,
			Ceiling: gateway.Spending{Tokens: l.Tokens, CostMicroUSD: l.CostMicroUSD}, Calls: int64(l.Calls)})
	}
	return p.day
}

func (p *project) uncounted(ctx context.Context, name string, c config.Agent) (agent.Agent, error) {
	if v, ok := vendorOf(c.Driver); ok {
		return p.vendorAgent(ctx, name, v, c)
	}
	if c.Permissions == config.PermissionsAsk {
		return nil, &problem{err: fmt.Errorf("agent %q: permissions %q: the driver %s does not know how its agent asks", name, c.Permissions, c.Driver),
			hint: "leave permissions out; what it may reach is the environment's to say"}
	}
	if c.Driver == config.DriverReplay {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find own program: %w", err)
		}
		return replay.New(replay.Config{Name: name, Program: []string{self, replayAgentName}, Script: p.abs(c.Script), Env: c.Env})
	}
	args := slices.Concat(c.Command, c.Args)
	if strings.Contains(args[0], "/") {
		args[0] = p.abs(args[0])
	}
	return command.New(command.Config{Name: name, Command: args, Prompt: command.Prompt(c.Prompt), Env: c.Env})
}

// vendorAgent is an agent that is known by name, with its way to its model.
func (p *project) vendorAgent(ctx context.Context, name string, v vendor, c config.Agent) (agent.Agent, error) {
	usual := config.PermissionsEverything
	if p.unsandboxed() {
		usual = config.PermissionsEdits
	}
	permissions := cmp.Or(c.Permissions, usual)
	if c.Driver == config.DriverCodex && permissions != config.PermissionsEverything && permissions != config.PermissionsAsk && !p.unsandboxed() {
		return nil, &problem{err: fmt.Errorf("agent %q: Codex keeps %s by a sandbox of its own, which cannot be made inside ours: it could not even read", name, permissions),
			hint: "set permissions: everything for it; what it may reach is the environment's to say"}
	}
	program := c.Program
	if strings.Contains(program, "/") {
		program = p.abs(program)
	}
	built, err := v.build(agent.Settings{Name: name, Program: program, Model: c.Model, Args: c.Args, Env: c.Env,
		Permissions: agent.Permissions(permissions), ProjectSettings: c.ProjectSettings})
	if err != nil {
		return nil, &problem{err: err, hint: "mend agents." + name + " in " + config.Name}
	}
	built = unasked(built, p.root, agent.Program{Agent: name, Args: []string{cmp.Or(program, v.driver)}, Env: c.Env}, c)
	login, _, _ := p.login(v, c)
	w := p.way(v, c)
	switch {
	case w.problem != "":
		return misled{built, w}, nil
	case login == config.LoginKey:
		return p.guarded(ctx, name, withoutLogin{built, v.login}, w, c)
	case c.Login == config.LoginKey:
		return nil, &problem{err: fmt.Errorf("agent %q: there is no key in %s", name, cmp.Or(v.server(c).key, "any variable: set agents."+name+".key")),
			hint: "export it, or set agents." + name + ".login: own"}
	case login == config.LoginOwn:
		return p.withOwnLogin(built, v, c), nil
	case login == "" && p.needsLogin(v, c):
		return loggedOut{built, p.logIn(v, c)}, nil
	}
	return built, nil
}

// needsLogin: without a key or a login that we find the agent has no way to its model. What its own
// variables and arguments bring is not ours to judge.
func (p *project) needsLogin(v vendor, c config.Agent) bool {
	return v.models != "" && len(c.Env)+len(c.Args) == 0 && !slices.ContainsFunc(p.config.Environment.Variables, secretName)
}

// logIn is what to type so that the agent reaches its model.
func (p *project) logIn(v vendor, c config.Agent) string {
	return fmt.Sprintf("export %s=…, or start %s once and log in", v.server(c).key, cmp.Or(c.Program, v.driver))
}

// mayCall says why no run can begin whose agents have no way to their models, nil if they have.
func (p *project) mayCall() error {
	for _, role := range workflow.Roles {
		name, c, ok := p.config.AgentFor(string(role), p.workflowName())
		v, known := vendorOf(c.Driver)
		if !ok || !known {
			continue
		}
		if err := p.mayCallBy(name, v, c); err != nil {
			return err
		}
	}
	return nil
}

// mayCallBy says why one agent has no way to its model, nil if it has.
func (p *project) mayCallBy(name string, v vendor, c config.Agent) error {
	if w := p.way(v, c); w.problem != "" {
		return &problem{err: fmt.Errorf("agent %q (%s): %s", name, v.title, w.problem), hint: w.next}
	}
	if !p.needsLogin(v, c) {
		return nil
	}
	if login, _, _ := p.login(v, c); login != "" {
		return nil
	}
	return &problem{err: fmt.Errorf("agent %q (%s) has no key and no login, so it would not reach its model", name, v.title), hint: p.logIn(v, c)}
}

// loggedOut is an agent that would only say that it is not logged in.
type loggedOut struct {
	agent.Agent
	logIn string
}

// Run implements agent.Agent.
func (a loggedOut) Run(context.Context, agent.Task, process.Executor) (agent.Result, error) {
	return agent.Result{Failure: agent.Fail(agent.Unauthorized, "there is no key and no login for it: %s", a.logIn)}, nil
}

// guarded lets the agent reach its model through the gateway alone, which has the key.
func (p *project) guarded(ctx context.Context, name string, a agent.Agent, w way, c config.Agent) (agent.Agent, error) {
	if w.url == "" {
		return nil, &problem{err: fmt.Errorf("agent %q: whose model %q is is not known", name, c.Model),
			hint: "name it as anthropic/…, openai/… or google/…, or set agents." + name + ".url and key"}
	}
	if err := p.startGateway(ctx); err != nil {
		return nil, err
	}
	prices := map[string]gateway.Price{}
	for model, price := range c.Prices {
		prices[model] = gateway.Price{Input: price.Input, Cached: price.Cached, Output: price.Output}
	}
	how := gateway.SessionConfig{Upstream: w.url, Source: w.from, Insecure: w.from != "", Key: w.value, Bearer: w.bearer, Headers: w.headers, Prices: prices}
	if day := p.ledger(); day != nil {
		how.Budgets = []gateway.Budget{day}
	}
	return p.gateway.Guard(a, how), nil
}

func (p *project) startGateway(ctx context.Context) error {
	if p.gateway != nil {
		return nil
	}
	roots, err := p.certificates()
	if err != nil {
		return err
	}
	p.gateway = gateway.New(gateway.Config{Clock: now, Logger: p.log, Proxy: p.proxy(), Roots: roots})
	return p.gateway.Start(ctx)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// unsandboxed: commands run on this machine as who started us.
func (p *project) unsandboxed() bool {
	return p.config.Environment.Driver == config.DriverClone && p.config.Environment.Sandbox == config.SandboxNone
}
