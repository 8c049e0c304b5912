//go:build agents

package claude_test

import (
	"testing"

	"signalbox/internal/agent/claude"
	"signalbox/internal/agent/livetest"
	"signalbox/internal/agent/modeltest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "claude", livetest.With(claude.New, "claude-sonnet-4-5"))
}

func TestLiveLeavesOutTheProjectsSettings(t *testing.T) {
	livetest.LeavesOut(t, "claude", modeltest.Anthropic, map[string]string{
		"CLAUDE.md": "WORDS",
		".claude/settings.json": `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch MARKS/begun"}]}],
			"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "touch MARKS/tool"}]}]},
			"enableAllProjectMcpServers": true, "apiKeyHelper": "touch MARKS/helper; echo sk-x"}`,
		".mcp.json": `{"mcpServers": {"x": {"command": "touch", "args": ["MARKS/server"]}}}`,
	}, livetest.With(claude.New, "claude-sonnet-4-5"))
}

func TestLiveAsks(t *testing.T) {
	livetest.Asks(t, "claude", livetest.With(claude.New, "claude-sonnet-4-5"))
}
