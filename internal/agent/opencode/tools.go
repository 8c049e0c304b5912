package opencode

import (
	"strings"

	"signalbox/internal/agent"
)

// used returns the call of a tool and its result, which it tells as one.
func (r *reader) used(p part) []agent.Entry {
	failed := p.State.Status == "error"
	text := p.State.Output
	if failed {
		text = p.State.Error
	}
	entries := []agent.Entry{
		{Kind: agent.ToolCalled, Tool: agent.Text(p.Tool), Call: agent.Text(p.CallID), Text: agent.Text(agent.ToolInput(p.State.Input))},
		{Kind: agent.ToolReturned, Tool: agent.Text(p.Tool), Call: agent.Text(p.CallID), Text: agent.Text(text), Failed: failed},
	}
	if failed && (strings.Contains(p.State.Error, "rejected permission") || strings.Contains(p.State.Error, "which prevents you from using")) {
		r.denied.Add(p.Tool)
		entries = append(entries, agent.Entry{Kind: agent.PermissionDenied, Tool: agent.Text(p.Tool), Call: agent.Text(p.CallID), Text: agent.Text(text)})
	}
	return entries
}
