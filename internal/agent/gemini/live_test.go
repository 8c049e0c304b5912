//go:build agents

package gemini_test

import (
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/livetest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "gemini", func(t *testing.T, program string, permissions agent.Permissions) agent.Agent {
		return newAgent(t, agent.Settings{Name: "gemini", Program: program, Model: "gemini-2.5-flash", Permissions: permissions})
	})
}
