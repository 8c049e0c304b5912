package acp

import (
	"encoding/json"
	"strings"

	"signalbox/internal/agent"
)

// saying is what is said at the moment, of the message with this id, and the last message, which is the
// answer. Spoke is whether there was one since the last tool.
type saying struct {
	message   strings.Builder
	messageID string
	answer    string
	spoke     bool
}

// chunk handles a piece of a message; the last message is the answer.
func (t *Talk) chunk(u update) (entries []agent.Entry) {
	var content struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(u.Content, &content)
	if u.MessageID != t.messageID {
		entries = t.flush()
		t.messageID = u.MessageID
	}
	t.spoke = t.spoke || content.Text != ""
	if t.message.Len()+len(content.Text) <= agent.MaxAnswer {
		t.message.WriteString(content.Text)
	}
	return entries
}

// flush tells the message that was said in pieces.
func (t *Talk) flush() []agent.Entry {
	text := t.message.String()
	t.message.Reset()
	if text == "" {
		return nil
	}
	t.answer = text
	return []agent.Entry{{Kind: agent.Said, Text: agent.Text(text)}}
}
