package acp

import (
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
