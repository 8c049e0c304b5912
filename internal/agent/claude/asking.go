package claude

import (
	"cmp"
	"encoding/json"

	"signalbox/internal/agent"
	"signalbox/internal/agent/pending"
)

// asking is the reader of a conversation in which Claude Code may ask: with --input-format=stream-json and --permission-prompt-tool=stdio it prints
// requests and waits for responses on standard input. It implements agent.Dialogue.
type asking struct {
	*reader
	// dir is the working directory, as the agent sees it.
	dir  string
	next agent.Turn
	// requests are the program's open requests.
	requests pending.Requests[*request]
}

// control is a line about permissions, not about the conversation.
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
		// Refuse an unknown request, so that the program doesn't wait for an answer.
		switch {
		case c.Request.Subtype != "can_use_tool":
			a.tell("error", c.RequestID, "error", "this request is unknown: "+c.Request.Subtype)
		case !a.requests.Has(c.RequestID):
			r := &request{tool: c.Request.Tool, input: c.Request.Input, answers: map[string]string{}}
			var asked struct {
				Questions []pending.Inquiry `json:"questions"`
			}
			if c.Request.Tool == personTool && json.Unmarshal(c.Request.Input, &asked) == nil {
				r.questions = asked.Questions[:min(len(asked.Questions), maxInquiries)]
			}
			r.left = max(1, len(r.questions))
			a.next.Ask = append(a.next.Ask, a.requests.Put(c.RequestID, r, r.asks(a.dir))...)
		}
	case "control_cancel_request":
		a.next.Withdrawn = append(a.next.Withdrawn, a.requests.Drop(c.RequestID)...)
	case "result":
		a.next.Over = true
	}
	return entries, keep
}

// Answered implements agent.Dialogue.
func (a *asking) Answered(q agent.Question, answer agent.Answer) {
	id, r, number, waits := a.requests.Answered(q)
	if !waits {
		return
	}
	response := map[string]any{"behavior": "deny", "message": cmp.Or(answer.Text, "This was denied.")}
	if answer.Verdict != agent.Denied {
		if len(r.questions) > 0 {
			r.answers[r.questions[number].Question] = r.questions[number].Reply(answer)
		}
		if r.left--; r.left > 0 {
			return // the request's other questions are open
		}
		input := any(r.input)
		if len(r.questions) > 0 {
			fields := map[string]any{}
			_ = json.Unmarshal(r.input, &fields) // an object, or it had no questions
			fields["answers"] = r.answers
			input = fields
		}
		response = map[string]any{"behavior": "allow", "updatedInput": input}
	}
	a.tell("success", id, "response", response)
	a.next.Withdrawn = append(a.next.Withdrawn, a.requests.Drop(id)...)
}

// Turn implements agent.Dialogue.
func (a *asking) Turn() agent.Turn {
	next := a.next
	a.next = agent.Turn{}
	return next
}

// tell responds to a request. key is the name of the value in a response of this subtype.
func (a *asking) tell(subtype, id, key string, value any) {
	a.next.Tell = append(a.next.Tell, said(map[string]any{"type": "control_response",
		"response": map[string]any{"subtype": subtype, "request_id": id, key: value}})...)
}

// said returns a line of the program's input.
func said(value any) []byte {
	line, err := json.Marshal(value)
	if err != nil { // impossible: values were JSON before, or are our own
		panic(err)
	}
	return append(line, '\n')
}
