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

// With opencode's own list of models, in which this one is.
func TestLiveLeavesOutTheProjectsSettings(t *testing.T) {
	livetest.LeavesOut(t, "opencode", modeltest.Anthropic, map[string]string{
		"AGENTS.md":             "WORDS",
		".opencode/plugin/x.js": `import fs from "fs"; export const X = async () => { fs.writeFileSync("MARKS/plugin", ""); return {} }`,
		"opencode.json":         `{"mcp": {"x": {"type": "local", "command": ["touch", "MARKS/server"], "enabled": true}}}`,
	}, livetest.With(opencode.New, "anthropic/claude-sonnet-4-5"))
}

func TestLiveAsks(t *testing.T) {
	livetest.Asks(t, "opencode", livetest.With(opencode.New, "anthropic/claude-sonnet-4-5"))
}
