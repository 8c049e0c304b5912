//go:build agents

package codex_test

import (
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/livetest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "codex", func(t *testing.T, program string, permissions agent.Permissions) agent.Agent {
		return newAgent(t, agent.Settings{Name: "codex", Program: program, Model: "gpt-5", Permissions: permissions})
	}, livetest.Fences)
}
