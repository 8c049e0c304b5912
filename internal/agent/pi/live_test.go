//go:build agents

package pi_test

import (
	"testing"

	"signalbox/internal/agent/livetest"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/agent/pi"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "pi", livetest.With(pi.New, "anthropic/claude-sonnet-4-5"))
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
			livetest.Speaks(t, "pi", api, livetest.With(pi.New, model))
		})
	}
}
