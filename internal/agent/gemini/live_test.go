//go:build agents

package gemini_test

import (
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/gemini"
	"signalbox/internal/agent/livetest"
	"signalbox/internal/agent/modeltest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "gemini", livetest.With(gemini.New, "gemini-2.5-flash"))
}

func TestLiveAsks(t *testing.T) {
	livetest.Asks(t, "gemini", livetest.With(gemini.New, "gemini-2.5-flash"), livetest.Killable)
}

func TestLiveAsksAfterKill(t *testing.T) {
	livetest.AsksAfterKill(t, "gemini", livetest.With(gemini.New, "gemini-2.5-flash"), livetest.Minutely)
}

// The repository's settings would start programs, and allow all of them.
func TestLiveThatAsksLeavesOutTheProjectsSettings(t *testing.T) {
	asking := func(t *testing.T, program string, _ agent.Permissions) agent.Agent {
		return livetest.With(gemini.New, "gemini-2.5-flash")(t, program, agent.Ask)
	}
	livetest.LeavesOut(t, "gemini", modeltest.Gemini, map[string]string{
		".gemini/settings.json": `{"mcpServers": {"x": {"command": "touch", "args": ["MARKS/server"]}}, "tools": {"allowed": ["run_shell_command"]},` +
			` "hooksConfig": {"enabled": true}, "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch MARKS/begun"}]}]}}`,
	}, asking)
}
