package claude

import (
	"encoding/json"

	"signalbox/internal/agent"
	"signalbox/internal/agent/pending"
)

// asking is a reader of a conversation in which it may ask: with --input-format=stream-json and
// --permission-prompt-tool=stdio it prints requests, and waits for the responses on standard input.
// It implements agent.Dialogue.
type asking struct {
	*reader
	// dir is the working directory, as the agent sees it.
	dir  string
	next agent.Turn
	// requests are those not answered yet.
	requests pending.Requests[*request]
}

func newAsking(resumed *agent.Conversation, dir string) *asking {
	return &asking{reader: newReader(resumed), dir: dir}
}

// control is a line that is about what it may do, not about the conversation.
type control struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Request   struct {
		Subtype string          `json:"subtype"`
		Tool    string          `json:"tool_name"`
		Input   json.RawMessage `json:"input"`
	} `json:"request"`
}

// Line implements agent.Reader.
func (a *asking) Line(line []byte) (entries []agent.Entry, keep bool) {
	entries, keep = a.reader.Line(line)
	var c control
	switch _ = json.Unmarshal(line, &c); c.Type {
	case "control_request":
		a.requested(c)
	case "control_cancel_request":
		a.drop(c.RequestID)
	case "result":
		a.next.Over = true
	}
	return entries, keep
}

// requested puts a request as questions. What is not known here is refused, so that nothing waits for it.
func (a *asking) requested(c control) {
	switch {
	case c.Request.Subtype != "can_use_tool":
		a.tell("error", c.RequestID, "error", "this is not known here: "+c.Request.Subtype)
	case !a.requests.Has(c.RequestID):
		r := newRequest(c.Request.Tool, c.Request.Input)
		a.next.Ask = append(a.next.Ask, a.requests.Put(c.RequestID, r, r.asks(a.dir))...)
	}
}

// drop lets go of a request with those of its questions that wait.
func (a *asking) drop(id string) {
	a.next.Withdrawn = append(a.next.Withdrawn, a.requests.Drop(id)...)
}

// Answered implements agent.Dialogue.
func (a *asking) Answered(q agent.Question, answer agent.Answer) {
	id, r, number, waits := a.requests.Answered(q)
	if !waits {
		return
	}
	if response := r.answered(number, answer); response != nil {
		a.tell("success", id, "response", response)
		a.drop(id)
	}
}

// Turn implements agent.Dialogue.
func (a *asking) Turn() agent.Turn {
	next := a.next
	a.next = agent.Turn{}
	return next
}

// tell answers a request; key is the one that its subtype has for value.
func (a *asking) tell(subtype, id, key string, value any) {
	a.next.Tell = append(a.next.Tell, said(map[string]any{"type": "control_response",
		"response": map[string]any{"subtype": subtype, "request_id": id, key: value}})...)
}

// prompted returns the prompt as a line of its input.
func prompted(prompt string) []byte {
	text := map[string]string{"type": "text", "text": prompt}
	return said(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{text}}})
}

// said returns a line of its input.
func said(value any) []byte {
	line, err := json.Marshal(value)
	if err != nil { // of what was JSON before, or is ours
		panic(err)
	}
	return append(line, '\n')
}
