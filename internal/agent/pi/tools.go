package pi

import (
	"encoding/json"
	"slices"

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
	if e.IsError && missing(text, tool) {
		r.deny(tool)
		entries = append(entries, agent.Entry{Kind: agent.PermissionDenied, Tool: tool, Call: call, Text: text})
	}
	return entries
}

// deny notes a tool that it was not allowed to use, once.
func (r *reader) deny(tool string) {
	if !slices.Contains(r.denied, tool) {
		r.denied = append(r.denied, tool)
	}
}

// input is what a person wants to see of a tool's input: a shell's command, or else all of it.
func input(raw json.RawMessage) string {
	var shell struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(raw, &shell) == nil && shell.Command != "" {
		return shell.Command
	}
	return string(raw)
}
