package opencode

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
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// unknownMethod is JSON-RPC's code for a method that there is not.
const unknownMethod = -32601

func (a *acp) request(method string, params any) {
	a.sent++
	a.tell(rpc{ID: encoded(a.sent), Method: method, Params: encoded(params)})
}

func (a *acp) tell(m rpc) {
	m.Version = "2.0"
	a.next.Tell = append(append(a.next.Tell, encoded(m)...), '\n')
}

// encoded is a value of ours, or with what was JSON before.
func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("opencode: encode: %v", err))
	}
	return bytes.TrimSpace(text)
}
