//go:build agents

package claude_test

import (
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/livetest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "claude", func(t *testing.T, program string, permissions agent.Permissions) agent.Agent {
		return newAgent(t, agent.Settings{Name: "claude", Program: program, Model: "claude-sonnet-4-5", Permissions: permissions})
	})
}
