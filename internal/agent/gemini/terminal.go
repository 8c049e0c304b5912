package gemini

import (
	"slices"

	"signalbox/internal/agent"
)

// atTerminal is it with its own interface.
func (a *Agent) atTerminal(task agent.Task) agent.Program {
	program := a.program(true).Located()
	program.Args = append(program.Args, "--approval-mode="+modes[a.settings.Permissions])
	if a.settings.Model != "" {
		program.Args = append(program.Args, "--model="+a.settings.Model)
	}
	program.Args = slices.Concat(program.Args, a.settings.Args, []string{"--prompt-interactive=" + task.Prompt})
	if task.Endpoint != nil {
		program.Env = slices.Concat(program.Env, endpoint(task.Endpoint))
		program.Files = files(task)
	}
	return program
}
