package claude

import "signalbox/internal/agent"

// NewReader is the reader of a conversation's first call.
func NewReader() agent.Reader { return &reader{} }

// NewAsking is the reader of a first call in which it may ask.
func NewAsking() agent.Dialogue { return &asking{reader: &reader{}, dir: "/work"} }
