package agent

// Conversation identifies an agent's own memory of a call, so that a later call can resume it. The memory is in the environment's HOME, in the
// program's own format: it lasts as long as the environment does.
type Conversation struct {
	// ID is the agent's own id. ValidConversation accepted it.
	ID string `json:"id"`
	// Usage is the total the agent had reported for the conversation, for agents whose counts continue when it is resumed: Claude Code and Codex.
	Usage Usage `json:"usage,omitzero"`
}

// ValidConversation reports whether an id from an agent is safe to pass back to it as an argument: letters, digits, dashes and underscores, and no
// dash at the start, which would make it an option. Every program's own ids fit (UUIDs, and "ses_…" of opencode).
func ValidConversation(id string) bool {
	if id == "" || len(id) > 128 || id[0] == '-' {
		return false
	}
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// Endpoint is where an agent reaches its model instead of at its vendor: a session of the gateway, on loopback. It is worthless once the call is over.
type Endpoint struct {
	// URL begins with http:// and does not end in a slash. The paths of the vendor's API follow it.
	URL string
	// Key replaces the API key. It is valid at this URL only. Drivers pass it in a variable and never as an argument, which other users of the machine
	// can read.
	Key string
}

// Usage is what was used, as the agent reports it; fields it doesn't report are zero.
type Usage struct {
	// InputTokens include CachedTokens: those read from a cache or written to one. Over ACP, Gemini CLI reports no cached tokens.
	InputTokens  int64 `json:"input_tokens,omitempty"`
	CachedTokens int64 `json:"cached_tokens,omitempty"`
	// OutputTokens include those of hidden reasoning, which vendors bill alike.
	OutputTokens int64 `json:"output_tokens,omitempty"`
	// CostUSD is the agent's own estimate, in US dollars. Claude Code, opencode and pi make one; Codex and Gemini CLI don't.
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.InputTokens + v.InputTokens, u.CachedTokens + v.CachedTokens, u.OutputTokens + v.OutputTokens, u.CostUSD + v.CostUSD}
}

// Sub returns u minus v, with no field below zero: a count that an agent starts anew must not turn into a credit.
func (u Usage) Sub(v Usage) Usage {
	return Usage{max(0, u.InputTokens-v.InputTokens), max(0, u.CachedTokens-v.CachedTokens),
		max(0, u.OutputTokens-v.OutputTokens), max(0, u.CostUSD-v.CostUSD)}
}

// Budget is what a call may use; zero means no limit.
type Budget struct {
	// Tokens counts input and output together, cached ones included.
	Tokens int64
	// CostUSD is in US dollars. It holds only for models whose price is configured, and for agents that estimate their own cost.
	CostUSD float64
}
