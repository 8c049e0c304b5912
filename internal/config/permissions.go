package config

import (
	"fmt"

	"signalbox/internal/permission"
)

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
	const hint = ": allow and deny count where it asks: want permissions: ask"
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
