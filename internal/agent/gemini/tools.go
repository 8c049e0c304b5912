package gemini

import (
	"encoding/json"
	"slices"

	"signalbox/internal/agent"
)

func (r *reader) called(e event) []agent.Entry {
	r.answer.Reset()
	if r.tools == nil {
		r.tools = map[string]string{}
	}
	tool, call := agent.Text(e.Tool), agent.Text(e.Call)
	r.tools[call] = tool
	return []agent.Entry{{Kind: agent.ToolCalled, Tool: tool, Call: call, Text: agent.Text(input(e.Input))}}
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

func (r *reader) returned(e event) []agent.Entry {
	r.answer.Reset()
	call := agent.Text(e.Call)
	tool, text := r.tools[call], e.Output
	delete(r.tools, call)
	if e.Status == "error" {
		text = e.Error.Message
	}
	entries := []agent.Entry{{Kind: agent.ToolReturned, Tool: tool, Call: call, Text: agent.Text(text), Failed: e.Status == "error"}}
	if e.Status == "error" && forbidden(e.Error) {
		r.deny(tool)
		entries = append(entries, agent.Entry{Kind: agent.PermissionDenied, Tool: tool, Call: call, Text: agent.Text(text)})
	}
	return entries
}
