//go:build agents

package pi_test

import (
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/livetest"
	"signalbox/internal/agent/modeltest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "pi", with("anthropic/claude-sonnet-4-5"))
}

func TestLiveDialects(t *testing.T) {
	t.Parallel()
	for model, api := range map[string]modeltest.API{
		"openai/gpt-5":            modeltest.Responses,
		"google/gemini-2.5-flash": modeltest.Gemini,
		"scripted/m1":             modeltest.Chat,
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			livetest.Speaks(t, "pi", api, with(model))
		})
	}
}

func with(model string) livetest.Make {
	return func(t *testing.T, program string, permissions agent.Permissions) agent.Agent {
		return newAgent(t, agent.Settings{Name: "pi", Program: program, Model: model, Permissions: permissions})
	}
}
