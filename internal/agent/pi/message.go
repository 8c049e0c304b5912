package pi

import (
	"strings"

	"signalbox/internal/agent"
)

// message is one message of the conversation, of any role.
type message struct {
	Role     string `json:"role"`
	Content  parts  `json:"content"`
	Model    string `json:"model"`
	Usage    usage  `json:"usage"`
	Reason   string `json:"stopReason"` // stop, toolUse, length, error or aborted
	Problem  string `json:"errorMessage"`
	Finished int64  `json:"timestamp"` // milliseconds since 1970
}

type parts []struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (p parts) text() string {
	var texts []string
	for _, part := range p {
		if part.Type == "text" && part.Text != "" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n")
}

type usage struct {
	Input      int64 `json:"input"` // without those of the cache
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Cost       struct {
		Total float64 `json:"total"`
	} `json:"cost"`
}

func (u usage) spent() agent.Usage {
	cached := u.CacheRead + u.CacheWrite
	return agent.Usage{InputTokens: u.Input + cached, CachedTokens: cached, OutputTokens: u.Output, CostUSD: u.Cost.Total}
}
