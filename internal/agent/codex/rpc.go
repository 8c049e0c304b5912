package codex

import (
	"encoding/json"
	"fmt"
)

// rpc is any line that is told to or by "codex app-server": JSON-RPC without its version.
type rpc struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// unknownMethod is JSON-RPC's code for a method that there is not.
const unknownMethod = -32601

// encoded is a value of ours.
func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("codex: encode: %v", err))
	}
	return text
}

// typed is a text as an input of a turn.
func typed(text string) []any {
	return []any{map[string]any{"type": "text", "text": text, "text_elements": []any{}}}
}
