package codex

import (
	"bytes"
	"encoding/json"
	"strings"

	"signalbox/internal/agent"
)

// item is one message, or one use of a tool, in a turn.
type item struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	// Text is of an agent_message, Message of an error, which is a warning.
	Text    string `json:"text"`
	Message string `json:"message"`
	// Status is in_progress, completed, failed or declined.
	Status string `json:"status"`

	// Of command_execution.
	Command  string `json:"command"`
	Output   string `json:"aggregated_output"`
	ExitCode int    `json:"exit_code"`

	// Of file_change.
	Changes []patched `json:"changes"`

	// Of mcp_tool_call and web_search.
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
	Query     string          `json:"query"`
}

type patched struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
}

// Codex's names of its tools that run commands and change files.
const (
	commandTool = "command_execution"
	patchTool   = "file_change"
)

// tool returns the name of the tool that an item uses; empty if it uses none.
func (i item) tool() string {
	switch i.Type {
	case commandTool, patchTool, "web_search":
		return i.Type
	case "mcp_tool_call":
		return strings.TrimPrefix(agent.Text(i.Server+"."+i.Tool), ".")
	}
	return ""
}

// wanted returns the tool's input as a person wants to see it.
func (i item) wanted() string {
	switch i.Type {
	case commandTool:
		return i.Command
	case "web_search":
		return i.Query
	case "mcp_tool_call":
		return compact(i.Arguments)
	}
	var lines []string
	for _, c := range i.Changes {
		lines = append(lines, c.Kind+" "+c.Path)
	}
	return strings.Join(lines, "\n")
}

// begins reports a tool's call.
func (r *reader) begins(i item) []agent.Entry {
	if i.tool() == "" {
		return nil
	}
	if len(r.begun) < maxBegun {
		r.begun[i.ID] = true
	}
	return []agent.Entry{{Kind: agent.ToolCalled, Tool: i.tool(), Call: agent.Text(i.ID), Text: agent.Text(i.wanted())}}
}

// maxBegun is more tools than run at the same time.
const maxBegun = 1000

// ends returns the entries for a finished item. Some kinds are reported only at their end.
func (r *reader) ends(i item) (entries []agent.Entry) {
	switch {
	case i.Type == "agent_message":
		r.answer = i.Text
		return []agent.Entry{{Kind: agent.Said, Text: agent.Text(i.Text)}}
	case i.Type == "error":
		return []agent.Entry{{Kind: agent.Warned, Text: agent.Text(i.Message)}}
	case i.tool() == "":
		return nil
	}
	if !r.begun[i.ID] {
		entries = r.begins(i)
	}
	delete(r.begun, i.ID)
	if i.Status == "declined" {
		r.denied.Add(i.tool())
		entries = append(entries, agent.Entry{Kind: agent.PermissionDenied, Tool: i.tool(), Call: agent.Text(i.ID), Text: agent.Text(i.wanted())})
	}
	came := compact(i.Result)
	switch {
	case i.Type == commandTool:
		came = i.Output
	case i.Status == "failed":
		came = compact(i.Error)
	}
	return append(entries, agent.Entry{Kind: agent.ToolReturned, Tool: i.tool(), Call: agent.Text(i.ID), Failed: i.Status == "failed" || i.Status == "declined" || i.ExitCode != 0, Text: agent.Text(came)})
}

// compact returns JSON without spaces; empty if there is none.
func compact(value json.RawMessage) string {
	var short bytes.Buffer
	if len(value) == 0 || string(value) == "null" || json.Compact(&short, value) != nil {
		return ""
	}
	return short.String()
}
