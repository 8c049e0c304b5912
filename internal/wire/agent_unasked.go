package wire

import (
	"context"

	"signalbox/internal/agent"
	"signalbox/internal/config"
)

// unaskedAgent is an agent whose program is not started on this machine to say its version: a repository could have it
// do anything else. In a sandbox it is asked all the same.
type unaskedAgent struct {
	agent.Agent
	program agent.Program
	why     string
}

// unasked is the agent, whose program is asked on this machine only if it lies outside the project and no variable of
// the configuration has a say in what it runs.
func unasked(a agent.Agent, root string, program agent.Program, c config.Agent) agent.Agent {
	switch {
	case root != "" && program.Within(root):
		return unaskedAgent{a, program, "version not checked: it is in the repository"}
	case len(c.Env) > 0:
		return unaskedAgent{a, program, "version not checked on this machine: it has variables of its own"}
	}
	return a
}

// Check implements agent.Agent.
func (a unaskedAgent) Check(context.Context) (version string, err error) {
	if _, err := a.program.Find(); err != nil {
		return "", err
	}
	return a.why, nil
}

// repositoryRoot is the project around the working directory, found without any program; empty where there is none.
func (a *Opener) repositoryRoot() string {
	root, gitDir, err := DocumentsRoot(a.Dir)
	if err != nil || gitDir == "" {
		return ""
	}
	return root
}
