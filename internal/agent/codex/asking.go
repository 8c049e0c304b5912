package codex

import (
	"encoding/json"
	"fmt"

	"signalbox/internal/agent"
)

// place is where a question belongs.
type place struct {
	*request
	number int
}

// requested puts a request as questions. What is not known here is refused, so that nothing waits for it.
func (a *asking) requested(m rpc) {
	id := string(m.ID)
	if a.requests[id] != nil {
		return
	}
	r := a.wished(m)
	switch {
	case r == nil:
		a.tell(rpc{ID: m.ID, Error: &rpcError{unknownMethod, "this is not known here"}})
	case len(r.questions) == 0:
		a.tell(rpc{ID: m.ID, Result: encoded(r.denied)})
	default:
		a.ask(r)
	}
}

// wished is the request, nil where it is not known.
func (a *asking) wished(m rpc) *request {
	var w wish
	_ = json.Unmarshal(m.Params, &w) // a field of another type is left out: nothing is allowed that is not seen
	r := &request{id: m.ID, thread: w.ThreadID, turn: w.TurnID, answers: map[string]any{}}
	r.allowed, r.denied = map[string]string{"decision": "accept"}, map[string]string{"decision": "decline"}
	switch {
	case m.Method == "item/commandExecution/requestApproval":
		r.questions = w.ofCommand(a.dir)
	case m.Method == "item/fileChange/requestApproval":
		r.questions = w.ofPatch(a.patches[w.ItemID], a.dir)
	case m.Method == "mcpServer/elicitation/request":
		r.allowed, r.denied = map[string]any{"action": "accept", "content": map[string]any{}}, map[string]any{"action": "decline"}
		if w.Meta.Kind == "mcp_tool_call" { // else the server itself wants to know something
			r.questions = w.ofTool()
		}
	case m.Method == "item/tool/requestUserInput":
		r.allowed, r.denied = map[string]any{"answers": r.answers}, map[string]any{"answers": map[string]any{}}
		for _, q := range w.asked() {
			r.inquiries, r.questions = append(r.inquiries, q), append(r.questions, q.question())
		}
	default:
		return nil
	}
	r.left = len(r.questions)
	return r
}

func (a *asking) ask(r *request) {
	a.requests[string(r.id)] = r
	for number, q := range r.questions {
		a.asked++
		q.ID = fmt.Sprint(a.asked)
		a.open[q.ID] = place{r, number}
		a.next.Ask = append(a.next.Ask, q)
	}
}

// drop lets go of a request, nil being none, with those of its questions that wait.
func (a *asking) drop(r *request) {
	for id, p := range a.open {
		if p.request == r {
			delete(a.open, id)
			a.next.Withdrawn = append(a.next.Withdrawn, id)
		}
	}
	if r != nil {
		delete(a.requests, string(r.id))
	}
}

// Answered implements agent.Dialogue. A denial has no words in this protocol, so they are said in the
// midst of the turn, before it goes on.
func (a *asking) Answered(q agent.Question, answer agent.Answer) {
	p, waits := a.open[q.ID]
	if !waits {
		return
	}
	delete(a.open, q.ID)
	response := p.answered(p.number, answer)
	if response == nil {
		return
	}
	if answer.Verdict == agent.Denied {
		a.deny(q.Tool)
		if answer.Text != "" {
			a.request("turn/steer", map[string]any{"threadId": p.thread, "expectedTurnId": p.turn,
				"input": typed(fmt.Sprintf("You were not allowed to use %s: %s", q.Tool, answer.Text))})
		}
	}
	a.tell(rpc{ID: p.id, Result: encoded(response)})
	a.drop(p.request)
}

// Turn implements agent.Dialogue.
func (a *asking) Turn() agent.Turn {
	next := a.next
	a.next = agent.Turn{}
	return next
}

func (a *asking) request(method string, params any) {
	a.sent++
	a.tell(rpc{ID: encoded(a.sent), Method: method, Params: encoded(params)})
}

func (a *asking) tell(m rpc) {
	a.next.Tell = append(append(a.next.Tell, encoded(m)...), '\n')
}
