//go:build agents

package codex_test

import (
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/codex"
	"signalbox/internal/agent/livetest"
	"signalbox/internal/agent/modeltest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "codex", livetest.With(codex.New, "gpt-5"), livetest.Fences)
}

// The model that it takes by itself gets its tools in another way.
func TestLiveWithItsOwnModel(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "codex", livetest.With(codex.New, ""), livetest.Fences)
}

func TestLiveWithItsOwnModelAsks(t *testing.T) {
	livetest.Asks(t, "codex", livetest.With(codex.New, ""))
}

func TestLiveAsks(t *testing.T) {
	livetest.Asks(t, "codex", livetest.With(codex.New, "gpt-5.5"), livetest.Killable)
}

func TestLiveAsksAfterKill(t *testing.T) {
	livetest.AsksAfterKill(t, "codex", livetest.With(codex.New, "gpt-5.5"))
}

// The repository's settings would start programs.
func TestLiveThatAsksLeavesOutTheProjectsSettings(t *testing.T) {
	asking := func(t *testing.T, program string, _ agent.Permissions) agent.Agent {
		return livetest.With(codex.New, "gpt-5.5")(t, program, agent.Ask)
	}
	livetest.LeavesOut(t, "codex", modeltest.Responses, map[string]string{
		".git/HEAD":          "ref: refs/heads/main\n",
		"AGENTS.md":          "WORDS",
		".codex/config.toml": "[mcp_servers.x]\ncommand = \"touch\"\nargs = [\"MARKS/server\"]\n",
		".codex/hooks.json":  `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch MARKS/begun"}]}]}}`,
	}, asking)
}

func TestLiveTypesNothingIntoACommand(t *testing.T) {
	livetest.TypesNothing(t, "codex", "exec_command", `{"cmd": "cat", "tty": true, "yield_time_ms": 300}`, livetest.With(codex.New, "gpt-5.5"))
}
