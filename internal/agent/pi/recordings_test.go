package pi_test

import (
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
)

const (
	session = "00000000-0000-4000-8000-000000000001"
	worked  = "begin message usage tool_call tool_result message usage end"
	refused = "begin error retry error end"
	broken  = "begin message usage error retry message usage error end"
)

func TestRecordings(t *testing.T) {
	t.Parallel()
	done := agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 60, CostUSD: 0.0069}
	half := agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 2, CostUSD: 0.00603}
	driver.Replays(t, map[string]agenttest.Outcome{
		"done":               {Kinds: worked, Usage: done},
		"rate-limited-twice": {Kinds: worked, Usage: done},
		"cut":                {Code: agent.Unreachable, Message: "terminated", Kinds: broken, Usage: half},
		"ended":              {Code: agent.Unreachable, Message: "ended before message_stop", Kinds: broken, Usage: half},
		"unauthorized":       {Code: agent.Unauthorized, Message: "401 invalid x-api-key", Kinds: "begin error end"},
		"rate-limited":       {Code: agent.RateLimited, Message: "50 requests per minute", Kinds: refused},
		"usage-limited":      {Code: agent.TimedOut, Message: "had not ended", Kinds: "begin end"},
		"server-error":       {Code: agent.ModelFailed, Message: "500 Internal server error", Kinds: refused},
		"overloaded":         {Code: agent.ModelFailed, Message: "529 Overloaded", Kinds: refused},
		"overflow":           {Code: agent.Overflowed, Message: "prompt is too long", Kinds: "begin error end"},
		"overflow-in-stream": {Code: agent.Overflowed, Message: "prompt is too long", Kinds: "begin error end"},
		"stalled":            {Code: agent.Hung, Message: "printed nothing for 1m0s", Kinds: "begin end"},
		"refused":            {Code: agent.Unreachable, Message: "Connection error.", Kinds: refused},
	})
}
