package gemini

import "signalbox/internal/agent"

func (r *reader) called(e event) []agent.Entry {
	r.answer.Reset()
	if r.tools == nil {
		r.tools = map[string]string{}
	}
	tool, call := agent.Text(e.Tool), agent.Text(e.Call)
	r.tools[call] = tool
	return []agent.Entry{{Kind: agent.ToolCalled, Tool: tool, Call: call, Text: agent.Text(agent.ToolInput(e.Input))}}
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
		r.denied.Add(tool)
		entries = append(entries, agent.Entry{Kind: agent.PermissionDenied, Tool: tool, Call: call, Text: agent.Text(text)})
	}
	return entries
}
