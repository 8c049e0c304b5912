package codex

import "signalbox/internal/agent"

// NewReader is the reader of a conversation's first call.
func NewReader() agent.Reader { return newReader(nil) }

// NewAsking is the reader of a first call in which it may ask.
func NewAsking() agent.Dialogue {
	talk := newAsking("gpt-5", agent.Task{Dir: "/work"})
	talk.begun()
	return talk
}

// Script is the text that a command has a shell run.
var Script = script
