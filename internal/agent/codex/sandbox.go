package codex

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// probeWait is many times what a program takes that does nothing.
const probeWait = 30 * time.Second

// fenced runs a command that does nothing in Codex's own sandbox, and returns a failure if the sandbox can't be made. That is so within most other
// sandboxes. Codex then blocks every command and reports it in no event: the model would answer without having seen a file, and the call end well.
func (a *Agent) fenced(ctx context.Context, task agent.Task, exec process.Executor) (*agent.Failure, error) {
	if a.Settings.Permissions == agent.Everything || a.Settings.Permissions == agent.Ask {
		return nil, nil
	}
	program := a.Located()
	program.Args = slices.Concat(program.Args, []string{"sandbox"}, modes[a.Settings.Permissions], []string{"--", "true"})
	task.Role, task.Log, task.Transcript, task.Total = "implementer", io.Discard, nil, probeWait // the implementer owes no answer
	result, err := program.Run(ctx, task, exec)
	if err != nil || result.Failure == nil || result.Failure.Code != agent.Crashed {
		return nil, err
	}
	// Other failures concern only this command: some versions don't have it, and it doesn't work below /tmp.
	said := result.Failure.Message
	if !strings.Contains(said, "not permitted") && !strings.Contains(said, "No permissions") {
		return nil, nil
	}
	return agent.Fail(agent.Unavailable, "permissions %q need Codex's own sandbox, which cannot be made here: set them to %q: %s",
		a.Settings.Permissions, agent.Everything, said), nil
}
