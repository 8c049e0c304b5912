//go:build agents

package opencode_test

import (
	"testing"

	"signalbox/internal/agent/livetest"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/agent/opencode"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "opencode", livetest.With(opencode.New, "scripted/m1"))
}

func TestLiveDialects(t *testing.T) {
	t.Parallel()
	for model, api := range map[string]modeltest.API{
		"anthropic/claude-sonnet-4-5": modeltest.Anthropic,
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			livetest.Speaks(t, "opencode", api, livetest.With(opencode.New, model))
		})
	}
}
