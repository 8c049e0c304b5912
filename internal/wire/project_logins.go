package wire

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/login"
	"signalbox/internal/config"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

// withoutLogin is an agent that no longer gets its own login, which an earlier call had: it now reaches its model another way.
type withoutLogin struct {
	agent.Agent
	login login.Login
}

// Run implements agent.Agent.
func (a withoutLogin) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	task.Login = map[string]string{"~/" + a.login.Folder: ""}
	return a.Agent.Run(ctx, task, exec)
}

// withLogin is an agent that is lent its own login, for one call at a time.
type withLogin struct {
	agent.Agent
	login login.Login
	// others are the logins of other agents, which may have been lent to the same environment.
	others []login.Login
	// again is what to type if the login is refused.
	again string
	log   *slog.Logger
}

// Run implements agent.Agent.
func (a withLogin) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	loan, err := a.login.Lend(ctx, task.Private, a.others...)
	if err != nil {
		return agent.Result{Failure: agent.Fail(agent.Unavailable, "agent %q: %v", a.Name(), err)}, nil
	}
	result, err := a.Agent.Run(ctx, loan.Task(task), exec)
	if err := loan.Return(); err != nil { // the work is done all the same, and the next start tries again
		a.log.Warn("a renewed login is not yet in its place", "agent", a.Name(), "err", err)
	}
	if f := result.Failure; f != nil && f.Code == agent.Unauthorized {
		result.Failure = agent.Fail(f.Code, "its own login was refused: %s: %s", a.again, f.Message)
	}
	return result, err
}

// withOwnLogin lends the agent its own login.
func (p *Project) withOwnLogin(a agent.Agent, v vendor, c config.Agent) agent.Agent {
	again := "log in again with \"" + strings.TrimSpace(cmp.Or(c.Program, v.Driver)+" "+v.logsIn) + "\""
	if closed := p.ClosedTo(v); len(closed) > 0 {
		again += ", and have environment.allow name " + strings.Join(closed, " and ")
	}
	lent := v.login
	lent.Home = p.Env("HOME")
	return withLogin{a, lent, p.logins(), again, p.Log}
}

// logins are those of all known agents.
func (p *Project) logins() (all []login.Login) {
	for _, v := range Vendors {
		l := v.login
		l.Home = p.Env("HOME")
		all = append(all, l)
	}
	return all
}

// ClosedTo are the hosts that the agent's own login needs and the configuration doesn't let it reach.
func (p *Project) ClosedTo(v vendor) []string {
	if p.Unsandboxed() || p.Config.Environment.Network == config.NetworkFull {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.hosts), func(host string) bool {
		_, parent, _ := strings.Cut(host, ".")
		return slices.Contains(p.Config.Environment.Allow, host) || slices.Contains(p.Config.Environment.Allow, "."+parent)
	})
}

// WarnOfLogins tells the user which of the agents get a copy of their own login.
func (p *Project) WarnOfLogins() {
	var told []string
	for _, role := range workflow.Roles {
		if name, c, ok := p.Config.AgentFor(string(role), p.WorkflowName()); ok && !slices.Contains(told, name) {
			told = append(told, name)
			p.WarnOfLogin(c)
		}
	}
}

// WarnOfLogin tells the user if the agent gets a copy of its own login.
func (p *Project) WarnOfLogin(c config.Agent) {
	v, known := VendorOf(c.Driver)
	if !known {
		return
	}
	if login, _, folder := p.LoginOf(v, c); login == config.LoginOwn {
		p.Warn("%s", v.Title+"'s "+OwnLogin(folder)+"; to keep it outside give it a key: docs/agents.md")
	}
}

// OwnLogin says what it means for an agent to use its own login.
func OwnLogin(folder string) string {
	return fmt.Sprintf("own login: a copy of its tokens and settings in ~/%s is inside; of what is written there only renewed tokens come back", folder)
}
