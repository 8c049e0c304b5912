package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// rpc is any line of the protocol: a request, a notification or a response.
type rpc struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Problem        `json:"error,omitempty"`
}

// Problem is what a program says of a request that it could not do. Code is what the program takes for
// one: JSON-RPC's, or an HTTP status.
type Problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Details string `json:"details,omitempty"`
	} `json:"data,omitzero"`
}

// unknownMethod is JSON-RPC's code for a method that there is not.
const unknownMethod = -32601

func (t *Talk) request(method string, params any) {
	t.sent++
	t.tell(rpc{ID: encoded(t.sent), Method: method, Params: encoded(params)})
}

func (t *Talk) tell(m rpc) {
	m.Version = "2.0"
	t.next.Tell = append(append(t.next.Tell, encoded(m)...), '\n')
}

// encoded is a value of ours, or with what was JSON before.
func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("acp: encode: %v", err))
	}
	return bytes.TrimSpace(text)
}
