package claude

import "signalbox/internal/agent"

// NewReader is the reader of a conversation's first call.
func NewReader() agent.Reader { return newReader(nil) }

// NewAsking is the reader of a first call in which it may ask.
func NewAsking() agent.Dialogue { return newAsking(nil, "/work") }
