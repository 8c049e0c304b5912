package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/config"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

// withLogin is an agent that is shown its own login's folders, or none any more (see agent.Task).
type withLogin struct {
	agent.Agent
	login map[string]string
	// again is what to type where the login is refused; empty where there is none.
	again string
}

// Run implements agent.Agent.
func (a withLogin) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	task.Login = a.login
	result, err := a.Agent.Run(ctx, task, exec)
	if f := result.Failure; f != nil && f.Code == agent.Unauthorized && a.again != "" {
		result.Failure = agent.Fail(f.Code, "its own login was refused: %s: %s", a.again, f.Message)
	}
	return result, err
}

// withoutLogin takes away what an earlier call was shown: its way to the model is another now.
func withoutLogin(a agent.Agent, v vendor) agent.Agent {
	none := map[string]string{}
	for _, folder := range v.folders {
		none["~/"+folder] = ""
	}
	return withLogin{Agent: a, login: none}
}

func (p *project) withOwnLogin(a agent.Agent, v vendor, c config.Agent) agent.Agent {
	shown := map[string]string{}
	for _, folder := range v.folders {
		if path := filepath.Join(p.Env("HOME"), folder); exists(path) {
			shown["~/"+folder] = path
		}
	}
	again := "log in again with \"" + v.logIn(c) + "\""
	if closed := p.closedTo(v); len(closed) > 0 {
		again += ", and have environment.allow name " + strings.Join(closed, " and ")
	}
	return withLogin{a, shown, again}
}

// logIn is the command by which a person logs in.
func (v vendor) logIn(c config.Agent) string {
	return strings.TrimSpace(cmp.Or(c.Program, v.driver) + " " + v.logsIn)
}

// closedTo are the hosts of the agent's own login that the configuration does not let it reach.
func (p *project) closedTo(v vendor) []string {
	if p.unsandboxed() || p.config.Environment.Network == config.NetworkFull {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.hosts), func(host string) bool {
		_, parent, _ := strings.Cut(host, ".")
		return slices.Contains(p.config.Environment.Allow, host) || slices.Contains(p.config.Environment.Allow, "."+parent)
	})
}

// warnOfLogins tells whoever starts agents which of them are shown their own login.
func (p *project) warnOfLogins() {
	var told []string
	for _, role := range workflow.Roles {
		if name, c, ok := p.config.AgentFor(string(role), p.workflowName()); ok && !slices.Contains(told, name) {
			told = append(told, name)
			p.warnOfLogin(c)
		}
	}
}

func (p *project) warnOfLogin(c config.Agent) {
	v, known := vendorOf(c.Driver)
	if !known {
		return
	}
	if login, _, folder := p.login(v, c); login == config.LoginOwn {
		p.app.warn("%s", v.title+"'s "+ownLogin(folder)+"; to keep it outside give it a key: docs/agents.md")
	}
}

// ownLogin is what an agent's own login means, in the words of doctor and of whoever starts it.
func ownLogin(folder string) string {
	return fmt.Sprintf("own login: ~/%s is shown inside, and what is written there stays", folder)
}
