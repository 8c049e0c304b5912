package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/config"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

func (p *project) lookAtAgents(ctx context.Context, add func(finding)) {
	p.lookAtWayOut(add)
	agents, err := p.agents(ctx)
	if err == nil {
		err = p.mayBegin()
	}
	if err != nil {
		var known *problem
		hint := ""
		if errors.As(err, &known) {
			hint = known.hint
		}
		add(finding{"agents", verdictMissing, err.Error(), hint})
		return
	}
	if name := p.plansUnasked(p.workflowName()); name != "" {
		add(finding{string(workflow.Planner), verdictWarning, name + " is a command: whether it can plan is not known, and \"signalbox heal\" will not try", sayWhoPlans(name)})
	}
	does := map[string][]string{} // an agent is one program, whichever model a role has it use
	var distinct []agent.Agent
	for _, role := range workflow.Roles {
		a, ok := agents[role]
		if !ok {
			add(finding{string(role), verdictWarning, withoutRole[role], "name an agent in roles"})
			continue
		}
		if does[a.Name()] == nil {
			distinct = append(distinct, a)
		}
		does[a.Name()] = append(does[a.Name()], string(role))
	}
	for _, a := range distinct {
		p.lookAtAgent(ctx, a, strings.Join(does[a.Name()], ", "), add)
	}
}

// withoutRole is what becomes of a run in which nobody does a role.
var withoutRole = map[workflow.Role]string{
	workflow.Planner:  "nobody: a run is one step, the whole request",
	workflow.Reviewer: "nobody: changes are not reviewed",
	workflow.Repairer: "nobody: a set-up that fails is not corrected",
}

// tryInside tries the agent's program where it is to work, and says if that was not done.
func (p *project) tryInside(ctx context.Context, try func(context.Context, process.Executor) error) (says string, err error) {
	if p.unsandboxed() {
		return "", nil
	}
	inside, ok := p.environments.(tryer)
	if !ok {
		return "; not tried inside a container", nil
	}
	if _, err := p.environments.Check(ctx); err != nil { // which is said where isolation is
		return "; not tried inside", nil
	}
	return "", try(ctx, tryIn{inside})
}

// starting asks an agent that is known for its version. Any other program is only looked for: what it would do is its own affair.
func (p *project) starting(name string, c config.Agent) func(context.Context, process.Executor) error {
	v, known := vendorOf(c.Driver)
	program := agent.Program{Agent: name, Title: v.title, Oldest: v.oldest, Install: v.install, Args: []string{p.programOf(c)}, Env: c.Env}
	if !known {
		return program.FindIn
	}
	return func(ctx context.Context, exec process.Executor) error {
		_, err := program.VersionIn(ctx, exec)
		return err
	}
}

func (p *project) programOf(c config.Agent) string {
	program := cmp.Or(c.Program, c.Driver)
	if len(c.Command) > 0 {
		program = c.Command[0]
	}
	if strings.Contains(program, "/") {
		program = p.abs(program)
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

// costTold says what a ceiling of money is worth where its models have no prices.
func (v vendor) costTold() string {
	if v.reckons {
		return v.title + " tells its cost when a call ends, and in a session at its own interface not at all, so a ceiling of money ends nothing meanwhile"
	}
	return v.title + " tells no cost, so no ceiling of money holds for it"
}

func (p *project) lookAtAgent(ctx context.Context, a agent.Agent, roles string, add func(finding)) {
	version, err := a.Check(ctx)
	if err != nil {
		next := "install it, or mend agents." + a.Name() + " in " + config.Name
		if v, known := vendorOf(p.config.Agents[a.Name()].Driver); known && errors.Is(err, agent.ErrTooOld) {
			next = v.install + "@latest"
		}
		add(finding{"agent " + a.Name(), verdictMissing, err.Error(), next})
		return
	}
	says := roles
	if version != "" {
		says = version + ": " + roles
	}
	c := p.config.Agents[a.Name()]
	v, known := vendorOf(c.Driver)
	if !known && c.Driver != config.DriverCommand {
		add(finding{What: "agent " + a.Name(), Verdict: verdictOK, Says: says})
		return
	}
	if l := p.config.Limits; (l.CostUSD > 0 || l.PerDay.CostUSD > 0) && len(c.Prices) == 0 && known {
		add(finding{"agent " + a.Name(), verdictWarning, v.costTold(), "set agents." + a.Name() + ".prices, or limits.tokens"})
	}
	tried, err := p.tryInside(ctx, p.starting(a.Name(), c))
	if err != nil {
		add(finding{"agent " + a.Name(), verdictMissing, says + "; but in the sandbox: " + err.Error(), ""})
		return
	}
	says += tried
	if !known {
		add(finding{What: "agent " + a.Name(), Verdict: verdictOK, Says: says})
		return
	}
	w := p.way(v, c)
	switch login, key, folder := p.login(v, c); {
	case w.problem != "":
		add(finding{"agent " + a.Name(), verdictMissing, says + "; " + w.problem, w.next})
	case login == config.LoginKey:
		add(p.reaching(ctx, w, finding{What: "agent " + a.Name(), Verdict: verdictOK, Says: says + "; key in " + key + ", which stays outside"}))
	case login == config.LoginOwn:
		next := "to keep it outside give it a key: docs/agents.md"
		if closed := p.closedTo(v); len(closed) > 0 {
			next = "it also needs environment.allow: [" + strings.Join(closed, ", ") + "]; " + next
		}
		add(finding{"agent " + a.Name(), verdictWarning, says + "; its " + ownLogin(folder), next})
	default:
		verdict, next := verdictWarning, "start it once and log in, or export "+cmp.Or(v.server(c).key, "the key of its model")
		if p.needsLogin(v, c) {
			verdict, next = verdictMissing, p.logIn(v, c)
		}
		add(finding{"agent " + a.Name(), verdict, says + "; no key and no login were found", next})
	}
}
