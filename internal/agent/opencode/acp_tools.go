package opencode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"signalbox/internal/agent"
)

// update is what it tells while it works.
type update struct {
	Kind      string `json:"sessionUpdate"`
	MessageID string `json:"messageId"`
	// Content is a list for a tool, and one thing for a message.
	Content json.RawMessage `json:"content"`
	toolUse
}

type toolUse struct {
	Call   string          `json:"toolCallId"`
	Title  string          `json:"title"`
	Status string          `json:"status"`
	Input  json.RawMessage `json:"rawInput"`
	Output struct {
		Output string `json:"output"`
		Error  string `json:"error"`
	} `json:"rawOutput"`
}

func (a *acp) updated(params json.RawMessage) []agent.Entry {
	var p struct {
		Update update `json:"update"`
	}
	_ = json.Unmarshal(params, &p) // a field of another type is left out
	switch u := p.Update; u.Kind {
	case "agent_message_chunk":
		return a.chunk(u)
	case "tool_call":
		if len(a.tools)+len(a.began) > maxTools {
			clear(a.tools)
			clear(a.began)
		}
		a.tools[u.Call] = u.Title
		return a.flush()
	case "tool_call_update":
		return append(a.flush(), a.worked(u.toolUse)...)
	}
	return nil
}

// maxTools is more than it uses at once.
const maxTools = 1000

// chunk is a piece of a message; the last message is the answer.
func (a *acp) chunk(u update) (entries []agent.Entry) {
	var content struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(u.Content, &content)
	if u.MessageID != a.messageID {
		entries = a.flush()
		a.messageID = u.MessageID
	}
	if a.message.Len()+len(content.Text) <= agent.MaxAnswer {
		a.message.WriteString(content.Text)
	}
	return entries
}

// flush tells the message that was said in pieces.
func (a *acp) flush() []agent.Entry {
	text := a.message.String()
	a.message.Reset()
	if text == "" {
		return nil
	}
	a.answer.Reset()
	return a.said(text)
}

// worked is a tool that begins, with all its input, or ended.
func (a *acp) worked(u toolUse) []agent.Entry {
	name := agent.Text(a.tools[u.Call])
	switch u.Status {
	case "in_progress":
		if a.began[u.Call] {
			return nil
		}
		a.began[u.Call] = true
		return []agent.Entry{{Kind: agent.ToolCalled, Tool: name, Call: agent.Text(u.Call), Text: agent.Text(input(u.Input))}}
	case "completed", "failed":
		delete(a.tools, u.Call)
		delete(a.began, u.Call)
		return []agent.Entry{{Kind: agent.ToolReturned, Call: agent.Text(u.Call), Failed: u.Status == "failed", Text: agent.Text(u.Output.Output + u.Output.Error)}}
	}
	return nil
}

// choice is an answer that it takes.
type choice struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// permission puts a request as a question.
func (a *acp) permission(m rpc) {
	var p struct {
		Use toolUse `json:"toolCall"`
	}
	_ = json.Unmarshal(m.Params, &p)
	id := string(m.ID)
	if _, twice := a.asked[id]; twice {
		return
	}
	a.asked[id] = m
	a.next.Ask = append(a.next.Ask, agent.Question{ID: id, Kind: agent.Permission, Tool: cmp.Or(a.tools[p.Use.Call], p.Use.Title),
		Subject: subject(p.Use.Input, a.dir), Text: input(p.Use.Input)})
}

// Answered implements agent.Dialogue.
func (a *acp) Answered(q agent.Question, answer agent.Answer) {
	m, open := a.asked[q.ID]
	if !open {
		return
	}
	delete(a.asked, q.ID)
	kind := "allow_once"
	if answer.Verdict == agent.Denied {
		kind = "reject_once"
		a.refused = append(a.refused, fmt.Sprintf("You were not allowed to use %s: %s", q.Tool, cmp.Or(answer.Text, "go on without it.")))
		a.deny(q.Tool)
	}
	a.tell(rpc{ID: m.ID, Result: outcome(m.Params, kind)})
}

// outcome is the answer of a kind among those that a request takes.
func outcome(params json.RawMessage, kind string) []byte {
	var p struct {
		Options []choice `json:"options"`
	}
	_ = json.Unmarshal(params, &p)
	of := map[string]string{"outcome": "cancelled"}
	if i := slices.IndexFunc(p.Options, func(c choice) bool { return c.Kind == kind }); i >= 0 {
		of = map[string]string{"outcome": "selected", "optionId": p.Options[i].ID}
	}
	return encoded(map[string]any{"outcome": of})
}

// subject is what a rule about a tool is about: a path is relative to dir where it is below it.
func subject(input json.RawMessage, dir string) string {
	var of struct {
		Command  string `json:"command"`
		FilePath string `json:"filePath"`
		Filepath string `json:"filepath"`
		Path     string `json:"path"`
		URL      string `json:"url"`
	}
	_ = json.Unmarshal(input, &of)
	path := cmp.Or(of.FilePath, of.Filepath, of.Path)
	if below, err := filepath.Rel(dir, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(below) {
		path = below
	}
	return cmp.Or(of.Command, path, of.URL)
}
