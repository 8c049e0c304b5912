package pi

import (
	"encoding/json"
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

func (r *reader) returned(e event) []agent.Entry {
	var result struct {
		Content parts `json:"content"`
	}
	_ = json.Unmarshal(e.Result, &result) // of another form, there is nothing to show
	text := agent.Text(result.Content.text())
	tool, call := agent.Text(e.Tool), agent.Text(e.CallID)
	entries := []agent.Entry{{Kind: agent.ToolReturned, Tool: tool, Call: call, Text: text, Failed: e.IsError}}
	if e.IsError && strings.Contains(text, "Tool "+tool+" not found") {
		r.denied.Add(tool)
		entries = append(entries, agent.Entry{Kind: agent.PermissionDenied, Tool: tool, Call: call, Text: text})
	}
	return entries
}
