package opencode_test

import (
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
)

const (
	session = "ses_000000000000000000000001"
	worked  = "begin message tool_call tool_result usage message usage end"
	refused = "begin error end"
)

func TestRecordings(t *testing.T) {
	t.Parallel()
	done := agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 60, CostUSD: 0.0069}
	driver.Replays(t, map[string]agenttest.Outcome{
		"done":               {Kinds: worked, Usage: done},
		"rate-limited-twice": {Kinds: worked, Usage: done},
		"cut":                {Code: agent.Unreachable, Message: "connection was closed", Kinds: refused},
		"ended":              {Code: agent.Unreachable, Message: "had not ended after 2m0s: the model's answer broke off", Kinds: "begin" + strings.Repeat(" message usage retry", 24) + " end"},
		"unauthorized":       {Code: agent.Unauthorized, Message: "Incorrect API key", Kinds: refused},
		"rate-limited":       {Code: agent.RateLimited, Message: "tokens per min", Kinds: refused, Until: "2026-01-01T00:00:01Z"},
		"usage-limited":      {Code: agent.TimedOut, Message: "had not ended", Kinds: "end", Nobody: true},
		"server-error":       {Code: agent.ModelFailed, Message: "had an error", Kinds: refused},
		"overloaded":         {Code: agent.ModelFailed, Message: "overloaded", Kinds: refused},
		"overflow":           {Code: agent.Overflowed, Message: "context window", Kinds: "begin error error end"},
		"overflow-in-stream": {Code: agent.Overflowed, Message: "context window", Kinds: refused},
		"stalled":            {Code: agent.Hung, Message: "printed nothing for 1m0s", Kinds: "begin end"},
		"refused":            {Code: agent.Unreachable, Message: "Unable to connect", Kinds: refused},
	})
}
