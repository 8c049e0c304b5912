package cli

import (
	"fmt"

	"signalbox/internal/config"
)

// overrides are the flags that win over the configuration.
type overrides struct {
	workflow    []string
	approve     string
	maxParallel int
	unsandboxed bool
	agent       string
	base        string
	// trust: what the project's files do to this machine counts for this command.
	trust bool
	// program: a session's agent is a program that was typed, and none of the configuration.
	program bool
}

func (o overrides) apply(c *config.Config, root string) error {
	if len(o.workflow) > 0 {
		c.Workflow = o.workflow
	}
	if o.approve != "" {
		if o.approve != config.ApproveAuto && o.approve != config.ApproveManual {
			return &problem{err: fmt.Errorf("--approve is %q", o.approve), hint: "want manual or auto", code: exitUsage}
		}
		c.Approve = o.approve
	}
	if o.maxParallel < 0 {
		return &problem{err: fmt.Errorf("--max-parallel is %d", o.maxParallel), hint: "want 1 or more", code: exitUsage}
	}
	if o.maxParallel > 0 {
		c.MaxParallel = o.maxParallel
	}
	if o.unsandboxed {
		c.Environment.Sandbox = config.SandboxNone
	}
	if o.base != "" {
		c.Base = o.base
	}
	if o.agent != "" {
		onlyAgent(c, o.agent)
	}
	return nil
}

// onlyAgent has an agent of the configuration, or else a program, implement requests, and nobody do
// anything else.
func onlyAgent(c *config.Config, agent string) {
	name := agent
	if _, configured := c.Agents[name]; !configured {
		name = "agent"
		c.Agents = map[string]config.Agent{name: {Driver: config.DriverCommand, Command: []string{agent}}}
	}
	c.Roles = map[string]config.Role{"implementer": {Agent: name}, "planner": {Agent: config.RoleNone}, "reviewer": {Agent: config.RoleNone}, "repairer": {Agent: config.RoleNone}}
	c.Workflows = nil
}
