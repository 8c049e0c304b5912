// Package jsonrpc is JSON-RPC as agents' programs speak it on their standard streams, one message per line. The drivers know what a method means.
package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Message is a request, which has a method and an ID, a notification, which has no ID, or a response,
// which has no method.
type Message struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Problem        `json:"error,omitempty"`
}

// Problem is the error of a request. Code is JSON-RPC's or an HTTP status, depending on the program.
type Problem struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// UnknownMethod is JSON-RPC's code for a method that does not exist.
const UnknownMethod = -32601

// Read parses a line. ok is false if the line is no message. A response with an error is a message whatever the type of the error's fields.
func Read(line []byte) (m Message, ok bool) {
	err := json.Unmarshal(line, &m)
	return m, (err == nil || m.Error != nil) && (m.Method != "" || m.ID != nil)
}

// IsRequest reports whether a message waits for a response.
func (m Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsResponse reports whether a message answers a request.
func (m Message) IsResponse() bool { return m.Method == "" && m.ID != nil }

// Number returns the ID of a request that we numbered, from 1; zero for null, which a program sends if it could not parse a message. ok is false
// for any other ID.
func (m Message) Number() (number int, ok bool) {
	ok = json.Unmarshal(m.ID, &number) == nil
	return number, ok
}

// Peer is our side: it collects the messages for the program.
type Peer struct {
	// Version is sent with every message; empty means that it is left out.
	Version string
	// Sent counts our requests: it is the number of the last.
	Sent int
	told []byte
}

// Request sends a request, with the next number as its ID.
func (p *Peer) Request(method string, params any) {
	p.Sent++
	p.tell(Message{ID: encoded(p.Sent), Method: method, Params: encoded(params)})
}

// Notify sends a notification.
func (p *Peer) Notify(method string) { p.tell(Message{Method: method}) }

// Respond answers one of the program's requests.
func (p *Peer) Respond(to Message, result any) { p.tell(Message{ID: to.ID, Result: encoded(result)}) }

// Refuse answers one of the program's requests that is unknown here, so that the program doesn't wait.
func (p *Peer) Refuse(to Message) {
	p.tell(Message{ID: to.ID, Error: &Problem{Code: UnknownMethod, Message: "this method is unknown"}})
}

// Told returns the messages since the last call.
func (p *Peer) Told() []byte {
	told := p.told
	p.told = nil
	return told
}

func (p *Peer) tell(m Message) {
	m.Version = p.Version
	p.told = append(append(p.told, encoded(m)...), '\n')
}

// encoded returns a value as JSON. It can't fail: values are our own, or were JSON before.
func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("jsonrpc: encode: %v", err))
	}
	return bytes.TrimSpace(text)
}
