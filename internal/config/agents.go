package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Agent is one coding agent.
type Agent struct {
	// Driver is claude, codex, opencode, pi or gemini; command for any other program; or replay.
	Driver string `yaml:"driver"`
	// Command is the program and its arguments (driver command). A program with a slash is
	// relative to the project root.
	Command []string `yaml:"command"`
	// Prompt says where the program gets its prompt: stdin or argument (driver command).
	Prompt string `yaml:"prompt"`
	// Script is the file to replay, relative to the project root (driver replay).
	Script string `yaml:"script"`
	// Env are variables (KEY=value) for the program.
	Env []string `yaml:"env"`

	// Program is the agent's name or path, if it isn't the usual one.
	Program string `yaml:"program"`
	// Model is the agent's own name for a model; empty means its default.
	Model string `yaml:"model"`
	// Permissions says what the agent may do without asking: everything (the sandbox limits it), edits or read-only. With ask, it asks about the
	// rest, and the patterns of Allow and Deny answer without a person.
	Permissions string   `yaml:"permissions"`
	Allow       []string `yaml:"allow"`
	Deny        []string `yaml:"deny"`
	// Args are additional arguments for the program.
	Args []string `yaml:"args"`
	// Login is key (the API key stays with Signalbox, which forwards requests) or own (the agent's own login, lent for the call). Empty means key
	// if the variable in Key is set, and otherwise own.
	Login string `yaml:"login"`
	// Key is the environment variable with the API key, and URL the model's server, if they aren't the vendor's usual ones.
	Key string `yaml:"key"`
	URL string `yaml:"url"`
	// ProjectSettings applies the settings for the agent that the repository contains.
	ProjectSettings bool `yaml:"project_settings"`
	// Prices maps models to their prices.
	Prices map[string]Price `yaml:"prices"`
}

// Price is the price of a model's tokens, in US dollars per million.
type Price struct {
	Input  float64 `yaml:"input"`
	Cached float64 `yaml:"cached"`
	Output float64 `yaml:"output"`
}

// Role says which agent does one role. Empty fields mean the agent's own settings.
type Role struct {
	Agent       string
	Model       string
	Permissions string
	Args        []string
	// Allow and Deny are added to the agent's patterns.
	Allow []string
	Deny  []string
}

// UnmarshalYAML accepts an agent's name, or a mapping with the key agent.
func (r *Role) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*r = Role{Agent: node.Value}
		return nil
	}
	fields := map[string]any{"agent": &r.Agent, "model": &r.Model, "permissions": &r.Permissions, "args": &r.Args, "allow": &r.Allow, "deny": &r.Deny}
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: want an agent's name, or agent, model, permissions, allow, deny and args", node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		field, ok := fields[key.Value]
		if !ok {
			return fmt.Errorf("line %d: there is no key %q: want agent, model, permissions, allow, deny or args", key.Line, key.Value)
		}
		if err := value.Decode(field); err != nil {
			return fmt.Errorf("line %d: %s: want text, or for args, allow and deny a list of texts", key.Line, key.Value)
		}
	}
	return nil
}

// Workflow holds the settings of one workflow.
type Workflow struct {
	Roles map[string]Role `yaml:"roles"`
}

// Vendors are the drivers for agents known by name.
var Vendors = []string{DriverClaude, DriverCodex, DriverOpencode, DriverPi, DriverGemini}

// AgentFor returns the agent for a role in a workflow, with the role's own settings applied. ok is false if no agent does the role.
func (c *Config) AgentFor(role, workflow string) (name string, a Agent, ok bool) {
	r := c.Roles[role]
	if own, ok := c.Workflows[workflow].Roles[role]; ok {
		r = own
	}
	if r.Agent == "" && len(c.Agents) == 1 {
		for only := range c.Agents {
			r.Agent = only
		}
	}
	if r.Agent == "" || r.Agent == RoleNone {
		return r.Agent, Agent{}, false
	}
	a = c.Agents[r.Agent]
	if r.Model != "" {
		a.Model = r.Model
	}
	if r.Permissions != "" {
		a.Permissions = r.Permissions
	}
	a.Args, a.Allow, a.Deny = slices.Concat(a.Args, r.Args), slices.Concat(a.Allow, r.Allow), slices.Concat(a.Deny, r.Deny)
	return r.Agent, a, true
}
