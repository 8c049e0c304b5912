package doctor

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/app"
	"signalbox/internal/config"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func (p *examination) lookAtAgents(ctx context.Context, add func(Finding)) {
	p.lookAtWayOut(add)
	agents, err := p.Agents(ctx)
	if err == nil && p.InMainTree() == nil { // lookAtRepository reports that one
		err = p.MayBegin()
	}
	if err != nil {
		add(findingOf("agents", err))
		return
	}
	if err := p.MayAnswer(); err != nil {
		add(findingOf("roles", err))
	} else if name := p.PlansUnasked(); name != "" && len(p.Config.Health.Checks) > 0 {
		add(Finding{string(workflow.Planner), VerdictWarning, name + " is a command, and we don't know whether it can plan: \"signalbox heal\" will not try", app.SayWhoPlans(name)})
	}
	does := map[string][]string{} // one agent is one program, even if its roles use different models
	var distinct []agent.Agent
	for _, role := range workflow.Roles {
		a, ok := agents[role]
		if !ok && (p.Config.Roles[string(role)].Agent == config.RoleNone || p.Config.Workflows[p.WorkflowName()].Roles[string(role)].Agent == config.RoleNone) {
			add(Finding{What: string(role), Verdict: VerdictOK, Says: "none, as roles says: " + strings.TrimPrefix(withoutRole[role], "no agent: ")})
			continue
		}
		if !ok {
			add(Finding{string(role), VerdictWarning, withoutRole[role], "name an agent in roles"})
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

// withoutRole says what a run does without an agent for a role.
var withoutRole = map[workflow.Role]string{
	workflow.Planner:  "no agent: a run is one step, the whole request",
	workflow.Reviewer: "no agent: changes are not reviewed",
	workflow.Repairer: "no agent: a setup that fails is not corrected",
}

func (p *examination) lookAtAgent(ctx context.Context, a agent.Agent, roles string, add func(Finding)) {
	version, err := a.Check(ctx)
	if err != nil {
		next, _ := wire.FixAgent(a.Name(), p.Config.Agents[a.Name()], err)
		add(Finding{"agent " + a.Name(), VerdictMissing, err.Error(), next})
		return
	}
	says := roles
	if version != "" {
		says = version + ": " + roles
	}
	c := p.Config.Agents[a.Name()]
	v, known := wire.VendorOf(c.Driver)
	if !known && c.Driver != config.DriverCommand {
		add(Finding{What: "agent " + a.Name(), Verdict: VerdictOK, Says: says})
		return
	}
	if l := p.Config.Limits; (l.CostUSD > 0 || l.PerDay.CostUSD > 0) && len(c.Prices) == 0 && known {
		add(Finding{"agent " + a.Name(), VerdictWarning, v.CostTold(), "set agents." + a.Name() + ".prices, or limits.tokens"})
	}
	tried, err := p.TryInside(ctx, p.Starting(a.Name(), c))
	if err != nil {
		next, _ := wire.FixAgent(a.Name(), c, err)
		add(Finding{"agent " + a.Name(), VerdictMissing, says + "; but in the sandbox: " + err.Error(), next})
		return
	}
	if script := wire.ScriptOf(c); script != "" {
		base, _ := p.Base(ctx) // lookAtStart reports what is wrong with it
		if wrong := p.FileProblem(ctx, base, script, filepath.Base(c.Command[0])); wrong != nil {
			add(Finding{"agent " + a.Name(), VerdictMissing, "it is to run " + script + ", which " + wrong.Says, cmp.Or(wrong.Next, "write it, or fix agents."+a.Name()+" in "+config.Name)})
			return
		}
	}
	says += tried
	if !known {
		add(Finding{What: "agent " + a.Name(), Verdict: VerdictOK, Says: says})
		return
	}
	w := p.WayOf(v, c)
	switch login, key, folder := p.LoginOf(v, c); {
	case w.Problem != "":
		add(Finding{"agent " + a.Name(), VerdictMissing, says + "; " + w.Problem, w.Next})
	case login == config.LoginKey:
		add(p.reaching(ctx, w, Finding{What: "agent " + a.Name(), Verdict: VerdictOK, Says: says + "; key in " + key + ", which stays outside"}))
	case login == config.LoginOwn:
		next := "to keep it outside give it a key: docs/agents.md"
		if closed := p.ClosedTo(v); len(closed) > 0 {
			next = "it also needs environment.allow: [" + strings.Join(closed, ", ") + "]; " + next
		}
		add(Finding{"agent " + a.Name(), VerdictWarning, says + "; its " + wire.OwnLogin(folder), next})
	default:
		verdict, next := VerdictWarning, "start it once and log in, or export "+cmp.Or(v.Server(c).Key, "the key of its model")
		if p.NeedsLogin(v, c) {
			verdict, next = VerdictMissing, p.LogIn(v, c)
		}
		add(Finding{"agent " + a.Name(), verdict, says + "; no key and no login were found", next})
	}
}
