package acp

import (
	"encoding/json"

	"signalbox/internal/agent"
)

// update is what a program tells while it works.
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
	_ = json.Unmarshal(params, &p) // a field of another type is left out
	p.Update.Dir = t.dir
	if t.prompted == 0 {
		t.retold = t.retold || p.Update.What != "available_commands_update"
		return nil
	}
	switch u := p.Update; u.What {
	case "agent_message_chunk":
		return t.chunk(u)
	case "tool_call":
		t.note(u.Use)
		return append(t.flush(), t.worked(u.Use)...)
	case "tool_call_update":
		return append(t.flush(), t.worked(u.Use)...)
	}
	return nil
}
