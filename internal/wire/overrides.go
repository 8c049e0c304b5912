package wire

import (
	"fmt"

	"signalbox/internal/config"
	"signalbox/internal/problem"
)

// overrides are the flags that win over the configuration.
type overrides struct {
	Workflow    []string
	Approve     string
	MaxParallel int
	Unsandboxed bool
	Agent       string
	Base        string
	// Trust: what the project's files do to this machine counts for this command.
	Trust bool
	// Program: a session's agent is a program that was typed, and none of the configuration.
	Program bool
}

func (o overrides) apply(c *config.Config, root string) error {
	if len(o.Workflow) > 0 {
		c.Workflow = o.Workflow
	}
	if o.Approve != "" {
		if o.Approve != config.ApproveAuto && o.Approve != config.ApproveManual {
			return &problem.Error{Err: fmt.Errorf("--approve is %q", o.Approve), Hint: "want manual or auto", Code: problem.Usage}
		}
		c.Approve = o.Approve
	}
	if o.MaxParallel < 0 {
		return &problem.Error{Err: fmt.Errorf("--max-parallel is %d", o.MaxParallel), Hint: "want 1 or more", Code: problem.Usage}
	}
	if o.MaxParallel > 0 {
		c.MaxParallel = o.MaxParallel
	}
	if o.Unsandboxed {
		c.Environment.Sandbox = config.SandboxNone
	}
	if o.Base != "" {
		c.Base = o.Base
	}
	if o.Agent != "" {
		onlyAgent(c, o.Agent)
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
