package pi

import (
	"encoding/json"
	"strings"

	"signalbox/internal/agent"
)

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
