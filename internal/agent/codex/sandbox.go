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

// probeWait is many times what a program that does nothing takes.
const probeWait = 30 * time.Second

// fenced tries the sandbox that Codex makes for its commands, by one that does nothing. Where it
// cannot be made, as within most sandboxes, every command is blocked, which no event tells: the model
// would answer without having seen a file, and Codex end well.
func (a *Agent) fenced(ctx context.Context, task agent.Task, exec process.Executor) (*agent.Failure, error) {
	if a.Settings.Permissions == agent.Everything || a.Settings.Permissions == agent.Ask {
		return nil, nil
	}
	program := a.Located()
	program.Args = slices.Concat(program.Args, []string{"sandbox"}, modes[a.Settings.Permissions], []string{"--", "true"})
	task.Role, task.Log, task.Transcript, task.Total = "implementer", io.Discard, nil, probeWait // who owes no answer
	result, err := program.Run(ctx, task, exec)
	if err != nil || result.Failure == nil || result.Failure.Code != agent.Crashed {
		return nil, err
	}
	// Others are of the command alone: some versions have none, and it does not work below /tmp.
	said := result.Failure.Message
	if !strings.Contains(said, "not permitted") && !strings.Contains(said, "No permissions") {
		return nil, nil
	}
	return agent.Fail(agent.Unavailable, "permissions %q need Codex's own sandbox, which cannot be made here: set them to %q: %s",
		a.Settings.Permissions, agent.Everything, said), nil
}
