package opencode

import (
	"encoding/json"
	"slices"

	"signalbox/internal/agent"
)

// used are the call of a tool and its result, which it tells as one.
func (r *reader) used(p part) []agent.Entry {
	failed := p.State.Status == "error"
	text := p.State.Output
	if failed {
		text = p.State.Error
	}
	entries := []agent.Entry{
		{Kind: agent.ToolCalled, Tool: agent.Text(p.Tool), Call: agent.Text(p.CallID), Text: agent.Text(input(p.State.Input))},
		{Kind: agent.ToolReturned, Tool: agent.Text(p.Tool), Call: agent.Text(p.CallID), Text: agent.Text(text), Failed: failed},
	}
	if failed && refused(p.State.Error) {
		r.deny(agent.Text(p.Tool))
		entries = append(entries, agent.Entry{Kind: agent.PermissionDenied, Tool: agent.Text(p.Tool), Call: agent.Text(p.CallID), Text: agent.Text(text)})
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
