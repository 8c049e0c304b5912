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

func TestLiveLeavesOutTheProjectsSettings(t *testing.T) {
	livetest.LeavesOut(t, "opencode", map[string]string{
		"AGENTS.md":             "WORDS",
		".opencode/plugin/x.js": `import fs from "fs"; export const X = async () => { fs.writeFileSync("MARKS/plugin", ""); return {} }`,
		"opencode.json":         `{"mcp": {"x": {"type": "local", "command": ["touch", "MARKS/server"], "enabled": true}}}`,
	}, livetest.With(opencode.New, "scripted/m1"))
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

func TestLiveAsks(t *testing.T) {
	livetest.Asks(t, "opencode", livetest.With(opencode.New, "anthropic/claude-sonnet-4-5"))
}
