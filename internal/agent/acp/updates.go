package acp

import (
	"encoding/json"
	"strings"

	"signalbox/internal/agent"
)

// update is a program's report while it works.
type update struct {
	What      string `json:"sessionUpdate"`
	MessageID string `json:"messageId"`
	Use
}

// updated handles an update. Updates of a replay are ignored.
func (t *Talk) updated(params json.RawMessage) []agent.Entry {
	var p struct {
		Update update `json:"update"`
	}
	_ = json.Unmarshal(params, &p) // a field of another type is ignored
	p.Update.Dir = t.dir
	if t.prompted == 0 {
		t.retold = t.retold || p.Update.What != "available_commands_update"
		return nil
	}
	switch u := p.Update; u.What {
	case "agent_message_chunk":
		var content struct {
			Text string `json:"text"`
		}
		_ = json.Unmarshal(u.Content, &content)
		var entries []agent.Entry // the message before is complete if this piece belongs to another; the last message is the answer
		if u.MessageID != t.messageID {
			entries = t.flush()
			t.messageID = u.MessageID
		}
		t.spoke = t.spoke || content.Text != ""
		if t.message.Len()+len(content.Text) <= agent.MaxAnswer {
			t.message.WriteString(content.Text)
		}
		return entries
	case "tool_call", "tool_call_update":
		if u.What == "tool_call" {
			t.note(u.Use)
		}
		return append(t.flush(), t.worked(u.Use)...)
	}
	return nil
}

// saying is the message that is arriving in pieces, with its id, and the last complete message, which is the answer. spoke: a message arrived since the
// last tool.
type saying struct {
	message   strings.Builder
	messageID string
	answer    string
	spoke     bool
}

// flush reports the message whose pieces have arrived.
func (t *Talk) flush() []agent.Entry {
	text := t.message.String()
	t.message.Reset()
	if text == "" {
		return nil
	}
	t.answer = text
	return []agent.Entry{{Kind: agent.Said, Text: agent.Text(text)}}
}
