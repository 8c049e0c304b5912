package gemini_test

import (
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
)

const (
	session = "00000000-0000-4000-8000-000000000001"
	worked  = "begin message tool_call tool_result message usage end"
	refused = "begin error end"
)

func TestRecordings(t *testing.T) {
	t.Parallel()
	done := agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 60}
	driver.Replays(t, map[string]agenttest.Outcome{
		"done":               {Kinds: worked, Usage: done},
		"rate-limited-twice": {Kinds: worked, Usage: done},
		"cut":                {Code: agent.Unreachable, Message: "terminated", Kinds: "begin message error end"},
		"ended": {Code: agent.Unreachable, Message: "ended without a finish reason", Kinds: "begin message error usage end",
			Usage: agent.Usage{InputTokens: 3600, CachedTokens: 600, OutputTokens: 90}},
		"unauthorized":       {Code: agent.Unauthorized, Message: "Request had invalid authentication credentials", Kinds: refused},
		"rate-limited":       {Code: agent.RateLimited, Message: "You exceeded your current quota", Kinds: refused, Until: "2026-01-01T12:00:02Z"},
		"usage-limited":      {Code: agent.UsageLimited, Message: "exhausted your daily quota on this model.", Kinds: refused},
		"server-error":       {Code: agent.ModelFailed, Message: "An internal error has occurred", Kinds: refused},
		"overloaded":         {Code: agent.ModelFailed, Message: "The model is overloaded", Kinds: refused},
		"overflow":           {Code: agent.Overflowed, Message: "The input token count (1200000) exceeds", Kinds: refused},
		"overflow-in-stream": {Code: agent.Overflowed, Message: "The input token count (1200000) exceeds", Kinds: refused},
		"stalled":            {Code: agent.Hung, Message: "printed nothing for 1m0s", Kinds: "begin end"},
		"refused":            {Code: agent.Unreachable, Message: "fetch failed", Kinds: refused},
	})
}
