package wire

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/login"
	"signalbox/internal/config"
	"signalbox/internal/environment/clone"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

// withoutLogin is an agent that is not shown any more what an earlier call was: its way to the model
// is another now.
type withoutLogin struct {
	agent.Agent
	login login.Login
}

// Run implements agent.Agent.
func (a withoutLogin) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	task.Login = map[string]string{"~/" + a.login.Folder: ""}
	return a.Agent.Run(ctx, task, exec)
}

// withLogin is an agent that is lent its own login, for a call at a time.
type withLogin struct {
	agent.Agent
	login login.Login
	// others are those of other agents, which may have been lent to the same environment.
	others []login.Login
	// again is what to type where the login is refused.
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
	if err := loan.Return(); err != nil { // its work is none the worse, and the next start tries again
		a.log.Warn("a renewed login is not yet in its place", "agent", a.Name(), "err", err)
	}
	if f := result.Failure; f != nil && f.Code == agent.Unauthorized {
		result.Failure = agent.Fail(f.Code, "its own login was refused: %s: %s", a.again, f.Message)
	}
	return result, err
}

func (p *Project) withOwnLogin(a agent.Agent, v vendor, c config.Agent) agent.Agent {
	again := "log in again with \"" + strings.TrimSpace(cmp.Or(c.Program, v.Driver)+" "+v.logsIn) + "\""
	if closed := p.ClosedTo(v); len(closed) > 0 {
		again += ", and have environment.allow name " + strings.Join(closed, " and ")
	}
	lent := v.login
	lent.Home = p.Env("HOME")
	return withLogin{a, lent, p.logins(), again, p.Log}
}

// logins are those of all agents that are known by name.
func (p *Project) logins() (all []login.Login) {
	for _, v := range Vendors {
		l := v.login
		l.Home = p.Env("HOME")
		all = append(all, l)
	}
	return all
}

// settleLogins brings back what was renewed in calls whose Signalbox was killed. Every command does it
// first: it may be one that removes the environment, and the person's own agent needs the new token.
func (p *Project) settleLogins() {
	lent, err := filepath.Glob(filepath.Join(p.environmentsFolder(), "*", clone.AgentsFolder))
	if err == nil {
		err = login.Settle(p.logins(), lent...)
	}
	if err != nil {
		p.Warn("a login that was renewed in an environment is not yet in its place: %v", err)
	}
}

// ClosedTo are the hosts of the agent's own login that the configuration does not let it reach.
func (p *Project) ClosedTo(v vendor) []string {
	if p.Unsandboxed() || p.Config.Environment.Network == config.NetworkFull {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.hosts), func(host string) bool {
		_, parent, _ := strings.Cut(host, ".")
		return slices.Contains(p.Config.Environment.Allow, host) || slices.Contains(p.Config.Environment.Allow, "."+parent)
	})
}

// WarnOfLogins tells whoever starts agents which of them are shown their own login.
func (p *Project) WarnOfLogins() {
	var told []string
	for _, role := range workflow.Roles {
		if name, c, ok := p.Config.AgentFor(string(role), p.WorkflowName()); ok && !slices.Contains(told, name) {
			told = append(told, name)
			p.WarnOfLogin(c)
		}
	}
}

func (p *Project) WarnOfLogin(c config.Agent) {
	v, known := VendorOf(c.Driver)
	if !known {
		return
	}
	if login, _, folder := p.LoginOf(v, c); login == config.LoginOwn {
		p.Warn("%s", v.Title+"'s "+OwnLogin(folder)+"; to keep it outside give it a key: docs/agents.md")
	}
}

// OwnLogin is what an agent's own login means, in the words of doctor and of whoever starts it.
func OwnLogin(folder string) string {
	return fmt.Sprintf("own login: a copy of its tokens and settings in ~/%s is inside; of what is written there only renewed tokens come back", folder)
}
