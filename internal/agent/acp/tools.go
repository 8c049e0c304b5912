package acp

import (
	"encoding/json"

	"signalbox/internal/agent"
)

// Use is a use of a tool, as far as one line reports it.
type Use struct {
	Call   string `json:"toolCallId"`
	Title  string `json:"title"`
	Kind   string `json:"kind"`
	Status string `json:"status"`
	// Input is the tool's own input, if the program reports it.
	Input json.RawMessage `json:"rawInput"`
	// Content is a list for a tool, and an object for a message.
	Content json.RawMessage `json:"content"`
	Output  struct {
		Output string `json:"output"`
		Error  string `json:"error"`
	} `json:"rawOutput"`
	// Dir is the working directory, which is in no line.
	Dir string `json:"-"`
}

// Part is one part of a tool's content: a text, or a file before and after.
type Part struct {
	Content struct {
		Text string `json:"text"`
	} `json:"content"`
	Path string `json:"path"`
	Old  string `json:"oldText"`
	New  string `json:"newText"`
}

// Parts returns the tool's content.
func (u Use) Parts() (parts []Part) {
	_ = json.Unmarshal(u.Content, &parts) // a message has none
	return parts
}

// using maps calls to the names of their tools, and records which calls were reported.
type using struct {
	tools map[string]string
	began map[string]bool
}

// maxTools is more tools than a program uses at once.
const maxTools = 1000

// makeRoom forgets all calls of a program that begins calls and ends none.
func (u using) makeRoom() {
	if len(u.tools)+len(u.began) > maxTools {
		clear(u.tools)
		clear(u.began)
	}
}

// note records the name of a tool.
func (t *Talk) note(u Use) {
	t.makeRoom()
	if t.tools[u.Call] = t.Tool(u); t.tools[u.Call] == "" {
		t.tools[u.Call] = u.Title
	}
	t.spoke = false
}

// worked returns the entries for a tool that started, when all of its input is known, or that ended.
func (t *Talk) worked(u Use) []agent.Entry {
	switch u.Status {
	case "in_progress":
		return t.begins(u)
	case "completed", "failed":
		text := u.Output.Output + u.Output.Error
		for _, part := range u.Parts() {
			if u.Output.Output+u.Output.Error == "" {
				text += part.Content.Text
			}
		}
		delete(t.tools, u.Call)
		delete(t.began, u.Call)
		return []agent.Entry{{Kind: agent.ToolReturned, Call: agent.Text(u.Call), Failed: u.Status == "failed", Text: agent.Text(text)}}
	}
	return nil
}

// begins reports a call, once.
func (t *Talk) begins(u Use) []agent.Entry {
	if t.began[u.Call] {
		return nil
	}
	name := t.tools[u.Call]
	t.makeRoom()
	t.began[u.Call] = true
	return []agent.Entry{{Kind: agent.ToolCalled, Tool: agent.Text(name), Call: agent.Text(u.Call), Text: agent.Text(t.Input(u))}}
}
