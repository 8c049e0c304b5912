//go:build agents

package opencode_test

import (
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/livetest"
	"signalbox/internal/agent/modeltest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "opencode", with("scripted/m1"))
}

func TestLiveDialects(t *testing.T) {
	t.Parallel()
	for model, api := range map[string]modeltest.API{
		"anthropic/claude-sonnet-4-5": modeltest.Anthropic,
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			livetest.Speaks(t, "opencode", api, with(model))
		})
	}
}

func with(model string) livetest.Make {
	return func(t *testing.T, program string, permissions agent.Permissions) agent.Agent {
		return newAgent(t, agent.Settings{Name: "opencode", Program: program, Model: model, Permissions: permissions})
	}
}
