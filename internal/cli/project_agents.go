package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/command"
	"signalbox/internal/agent/replay"
	"signalbox/internal/config"
	"signalbox/internal/workflow"
)

// agents builds the agent of every role that has one.
func (p *project) agents() (map[workflow.Role]agent.Agent, error) {
	agents := map[workflow.Role]agent.Agent{}
	for _, role := range workflow.Roles {
		name, c, ok := p.config.AgentFor(string(role), p.workflowName())
		if !ok {
			continue
		}
		built, err := p.agent(name, c)
		if err != nil {
			return nil, err
		}
		agents[role] = built
	}
	return agents, nil
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

func (p *project) agent(name string, c config.Agent) (agent.Agent, error) {
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
