package codex

import (
	"slices"

	"signalbox/internal/agent"
)

// atTerminal returns the program with its own interface. It first asks about a folder that is not trusted yet.
func (a *Agent) atTerminal(task agent.Task) agent.Program {
	program := a.program().Located()
	program.Args = append(program.Args, "-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false")
	program.Args = slices.Concat(program.Args, trust(task.Dir), modes[a.settings.Permissions], endpoint(task.Endpoint))
	if a.settings.Model != "" {
		program.Args = append(program.Args, "--model="+a.settings.Model)
	}
	program.Args = slices.Concat(program.Args, a.settings.Args, []string{"--", task.Prompt})
	if task.Endpoint != nil {
		program.Env = append(program.Env, keyVariable+"="+task.Endpoint.Key)
	}
	return program
}
