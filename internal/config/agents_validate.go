package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"signalbox/internal/lazy"
	"signalbox/internal/permission"
)

// workflows are the names of workflows that may have settings of their own; custom is a list of phases.
var workflows = []string{"full", "simple", "custom", "heal"}

func (c *Config) validateAgents() (problems []error) {
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		problems = append(problems, c.Agents[name].validate(name))
	}
	problems = append(problems, c.validateRoles("roles", c.Roles))
	problems = append(problems, c.validateUnasked()...)
	for _, name := range slices.Sorted(maps.Keys(c.Workflows)) {
		if !slices.Contains(workflows, name) {
			problems = append(problems, wrong("workflows."+name, " is not a workflow: want %s", strings.Join(workflows, ", ")))
		}
		problems = append(problems, c.validateRoles("workflows."+name+".roles", c.Workflows[name].Roles))
	}
	return problems
}

func (c *Config) validateRoles(key string, roles map[string]Role) error {
	var problems []error
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		if !slices.Contains([]string{"planner", "implementer", "reviewer", "repairer"}, role) {
			problems = append(problems, wrong(key+"."+role, ": want planner, implementer, reviewer or repairer"))
		}
		r := roles[role]
		if _, known := c.Agents[r.Agent]; !known && r.Agent != RoleNone && (r.Agent != "" || len(c.Agents) != 1) {
			problems = append(problems, wrong(key+"."+role, " names %q, which is not an agent in this file", r.Agent))
		}
		if r.Permissions != "" {
			problems = append(problems, oneOf(key+"."+role+".permissions", r.Permissions, permissions...))
		}
		problems = append(problems, validatePatterns(key+"."+role, r.Allow, r.Deny)...)
	}
	return errors.Join(problems...)
}

var (
	permissions  = []string{PermissionsEverything, PermissionsEdits, PermissionsReadOnly, PermissionsAsk}
	variableName = lazy.Pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

func (a Agent) validate(name string) error {
	key := "agents." + name
	var problems []error
	if a.Driver != DriverReplay { // used only by our own tests
		problems = append(problems, oneOf(key+".driver", a.Driver, append([]string{DriverCommand}, Vendors...)...))
	}
	switch {
	case name == RoleNone:
		return wrong(key, ": this name means that no agent does the role")
	case a.Driver == DriverCommand && (len(a.Command) == 0 || a.Command[0] == ""):
		return wrong(key+".command", " is empty: want a program and its arguments")
	case a.Driver == DriverReplay && a.Script == "":
		return wrong(key+".script", " is empty: want the file to replay")
	case len(a.Command) > 0 && slices.Contains(Vendors, a.Driver):
		return wrong(key+".command", ": the driver %s knows its arguments; want program and args", a.Driver)
	}
	if a.Prompt != "" {
		problems = append(problems, oneOf(key+".prompt", a.Prompt, PromptStdin, PromptArgument))
	}
	if a.Permissions != "" {
		problems = append(problems, oneOf(key+".permissions", a.Permissions, permissions...))
	}
	problems = append(problems, validatePatterns(key, a.Allow, a.Deny)...)
	if a.Login != "" {
		problems = append(problems, oneOf(key+".login", a.Login, LoginKey, LoginOwn))
	}
	if a.Key != "" && !variableName().MatchString(a.Key) {
		problems = append(problems, wrong(key+".key", " is not the name of an environment variable: the key itself does not belong in this file"))
	}
	if u, err := url.Parse(a.URL); a.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "") {
		problems = append(problems, wrong(key+".url", " is %q: want http://… or https://…", shown(a.URL)))
	}
	for model, p := range a.Prices {
		if !(p.Input >= 0 && p.Cached >= 0 && p.Output >= 0) {
			problems = append(problems, wrong(key+".prices."+model, ": want US dollars for a million tokens"))
		}
	}
	return errors.Join(problems...)
}

func validatePatterns(key string, allow, deny []string) (problems []error) {
	for name, patterns := range map[string][]string{"allow": allow, "deny": deny} {
		for i, pattern := range patterns {
			if err := permission.Check(pattern); err != nil {
				problems = append(problems, wrong(fmt.Sprintf("%s.%s[%d]", key, name, i+1), ": %v; want a tool, such as Read, or a tool with its subject, such as Bash(go test *)", err))
			}
		}
	}
	return problems
}

// validateUnasked rejects patterns that would never apply, because the user relies on them.
func (c *Config) validateUnasked() (problems []error) {
	const hint = ": allow and deny apply only with permissions: ask"
	asks := map[string]bool{}
	look := func(key, workflow string, roles map[string]Role) {
		for role, r := range roles {
			name, a, _ := c.AgentFor(role, workflow)
			asks[name] = asks[name] || a.Permissions == PermissionsAsk
			if a.Permissions != PermissionsAsk && len(r.Allow)+len(r.Deny) > 0 {
				problems = append(problems, wrong(key+"."+role, hint))
			}
		}
	}
	look("roles", "", c.Roles)
	for name, workflow := range c.Workflows {
		look("workflows."+name+".roles", name, workflow.Roles)
	}
	for name, a := range c.Agents {
		if a.Permissions != PermissionsAsk && !asks[name] && len(a.Allow)+len(a.Deny) > 0 {
			problems = append(problems, wrong("agents."+name, hint+", here or for a role"))
		}
	}
	return problems
}
