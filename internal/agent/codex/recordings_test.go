package codex_test

import (
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
)

const (
	begun   = "begin warning"
	worked  = " message tool_call tool_result message usage end"
	failed  = " error end"
	thrice  = " retry retry retry"
	session = "00000000-0000-4000-8000-000000000001"
)

func TestRecordings(t *testing.T) {
	t.Parallel()
	done := agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 60}
	driver.Replays(t, map[string]agenttest.Outcome{
		"done":               {Kinds: begun + worked, Usage: done},
		"rate-limited-twice": {Kinds: begun + " retry retry" + worked, Usage: done},
		"cut":                {Code: agent.Unreachable, Message: "error decoding response body", Kinds: begun + thrice + failed},
		"ended":              {Code: agent.Unreachable, Message: "closed before response.completed", Kinds: begun + thrice + failed},
		"unauthorized":       {Code: agent.Unauthorized, Message: "401 Unauthorized", Kinds: begun + thrice + failed},
		"rate-limited":       {Code: agent.RateLimited, Message: "429 Too Many Requests", Kinds: begun + thrice + failed},
		"usage-limited": {Code: agent.UsageLimited, Message: "hit your usage limit", Kinds: begun + failed,
			Until: "2026-01-02T03:00:00Z"},
		"server-error":       {Code: agent.ModelFailed, Message: "high demand", Kinds: begun + thrice + failed},
		"overloaded":         {Code: agent.ModelFailed, Message: "at capacity", Kinds: begun + failed},
		"overflow":           {Code: agent.Overflowed, Message: "ran out of room", Kinds: begun + failed},
		"overflow-in-stream": {Code: agent.Overflowed, Message: "ran out of room", Kinds: begun + failed},
		"stalled":            {Code: agent.Hung, Message: "printed nothing for 1m0s", Kinds: begun + " end"},
		"refused":            {Code: agent.Unreachable, Message: "had not ended after 2m0s: Connection failed", Kinds: begun + thrice + " retry retry end"},
	})
}

func TestTheTranscriptHoldsTheWholeConversation(t *testing.T) {
	t.Parallel()
	driver.Transcribes(t, [][3]string{
		{"warning", "", "Model metadata for `gpt-5` not found. Defaulting to fallback metadata; this can degrade performance and cause issues."},
		{"message", "", "I am going to write the file, as you asked me to."},
		{"tool_call", "command_execution", "/bin/bash -lc \"mkdir -p '/work' && printf %s 'hello\n' >'/work/hello.txt'\""},
		{"tool_result", "command_execution", ""},
		{"message", "", "It is written."},
	})
}
