package gemini

import (
	"signalbox/internal/agent"
	"signalbox/internal/agent/acp"
)

// NewReader is the reader of a conversation's first call.
func NewReader() agent.Reader { return &reader{} }

// NewTalk is the reader of a first call in which it may ask.
func NewTalk() agent.Dialogue {
	talk := acp.New(dialect, "m1", agent.Task{Dir: "/work"})
	talk.Begin()
	return talk
}
