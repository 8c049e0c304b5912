package opencode

import (
	"slices"

	"signalbox/internal/agent"
)

// atTerminal returns the program with its own interface.
func (a *Agent) atTerminal(program agent.Program, prompt string) agent.Program {
	if a.settings.Model != "" {
		program.Args = append(program.Args, "--model="+a.settings.Model)
	}
	program.Args = slices.Concat(program.Args, a.settings.Args, []string{"--prompt=" + prompt})
	return program
}
