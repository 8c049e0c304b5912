package opencode

import "signalbox/internal/agent"

// NewReader is the reader of a conversation's first call.
func NewReader() agent.Reader { return &reader{} }
