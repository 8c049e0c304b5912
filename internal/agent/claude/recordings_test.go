package claude_test

import (
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
)

const (
	worked  = " message tool_call tool_result message usage end"
	failed  = " error usage end"
	twice   = " retry retry"
	session = "00000000-0000-4000-8000-000000000001"
)

func TestRecordings(t *testing.T) {
	t.Parallel()
	done := agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 60, CostUSD: 0.00702}
	driver.Replays(t, map[string]agenttest.Outcome{
		"done":               {Kinds: "begin" + worked, Usage: done},
		"rate-limited-twice": {Kinds: "begin" + twice + worked, Usage: done},
		"cut":                {Kinds: "begin" + twice + worked, Usage: done},
		"ended":              {Kinds: "begin retry" + worked, Usage: agent.Usage{InputTokens: 4800, CachedTokens: 800, OutputTokens: 66, CostUSD: 0.01323}},
		"unauthorized":       {Code: agent.Unauthorized, Message: "Invalid API key", Kinds: "begin" + twice + failed},
		"rate-limited":       {Code: agent.RateLimited, Message: "50 requests per minute", Kinds: "begin" + twice + failed},
		"usage-limited":      {Code: agent.UsageLimited, Message: "exceed your account's rate limit", Kinds: "begin" + failed},
		"server-error":       {Code: agent.ModelFailed, Message: "500 Internal server error", Kinds: "begin" + twice + failed},
		"overloaded":         {Code: agent.ModelFailed, Message: "529 Overloaded", Kinds: "begin" + twice + failed},
		"overflow":           {Code: agent.Overflowed, Message: "Prompt is too long", Kinds: "begin" + failed},
		"overflow-in-stream": {Code: agent.Overflowed, Message: "Prompt is too long", Kinds: "begin" + failed},
		"stalled":            {Code: agent.Hung, Message: "printed nothing for 1m0s", Kinds: "begin end"},
		"refused":            {Code: agent.Unreachable, Message: "ECONNREFUSED", Kinds: "begin" + twice + failed},
	})
}

func TestTheTranscriptHoldsTheWholeConversation(t *testing.T) {
	t.Parallel()
	driver.Transcribes(t, [][3]string{
		{"message", "", "I am going to write the file, as you asked me to."},
		{"tool_call", "Write", `{"file_path":"/work/hello.txt","content":"hello\n"}`},
		{"tool_result", "", "File created successfully at: /work/hello.txt (file state is current in your context — no need to Read it back)"},
		{"message", "", "It is written."},
	})
}
