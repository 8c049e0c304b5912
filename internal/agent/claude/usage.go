package claude

import "signalbox/internal/agent"

// usage is the usage of one message.
type usage struct {
	Input   int64 `json:"input_tokens"`
	Created int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

func (u usage) total() agent.Usage {
	return agent.Usage{InputTokens: u.Input + u.Created + u.Read, CachedTokens: u.Created + u.Read, OutputTokens: u.Output}
}

// models are the usage by model. They include what Claude Code asks beside the conversation, such as titles.
type models map[string]struct {
	Input   int64   `json:"inputTokens"`
	Created int64   `json:"cacheCreationInputTokens"`
	Read    int64   `json:"cacheReadInputTokens"`
	Output  int64   `json:"outputTokens"`
	Cost    float64 `json:"costUSD"`
}

func (m models) total() (sum agent.Usage) {
	for _, u := range m {
		of := usage{u.Input, u.Created, u.Read, u.Output}.total()
		of.CostUSD = u.Cost
		sum = sum.Add(of)
	}
	return sum
}

// used returns what this call used. Without a final event, it is the sum over the messages, which is the least.
func (r *reader) used() agent.Usage {
	switch {
	case r.result == nil:
		return r.spent.Add(r.last.usage)
	case r.result.ModelsSince != nil:
		return r.result.ModelsSince.total()
	}
	return r.counted().Sub(r.before())
}

// counted returns Claude Code's count for the whole conversation.
func (r *reader) counted() agent.Usage {
	if r.result == nil {
		return r.before().Add(r.used())
	}
	if len(r.result.Models) > 0 {
		return r.result.Models.total()
	}
	sum := r.result.Usage.total() // which isn't cumulative
	sum.CostUSD = r.result.TotalCost - r.before().CostUSD
	return r.before().Add(sum)
}

// before returns the conversation's usage before this call.
func (r *reader) before() agent.Usage {
	if r.resumed == nil {
		return agent.Usage{}
	}
	return r.resumed.Usage
}
