package codex

import (
	"slices"
	"strconv"

	"signalbox/internal/agent"
)

// atTerminal is it with its own interface. A folder that nobody trusted is asked about first of all.
func (a *Agent) atTerminal(task agent.Task) agent.Program {
	program := a.program().Located()
	program.Args = append(program.Args, "-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false",
		"-c", "projects={"+strconv.Quote(task.Dir)+`={trust_level="trusted"}}`)
	program.Args = slices.Concat(program.Args, modes[a.settings.Permissions])
	for _, argument := range endpoint(task.Endpoint) {
		if argument != "--ignore-user-config" { // which only its one-shot command has
			program.Args = append(program.Args, argument)
		}
	}
	if a.settings.Model != "" {
		program.Args = append(program.Args, "--model="+a.settings.Model)
	}
	program.Args = slices.Concat(program.Args, a.settings.Args, []string{"--", task.Prompt})
	if task.Endpoint != nil {
		program.Env = append(program.Env, keyVariable+"="+task.Endpoint.Key)
	}
	return program
}
