package codex

import (
	"encoding/json"
	"fmt"

	"signalbox/internal/agent"
	"signalbox/internal/agent/jsonrpc"
)

// wished returns the questions that a request puts to a person, and its possible responses; nil if the request is unknown.
func (a *asking) wished(m jsonrpc.Message) *request {
	var w wish
	_ = json.Unmarshal(m.Params, &w) // a field of another type is left out: nothing is allowed that is not seen
	r := &request{message: m, thread: w.ThreadID, turn: w.TurnID, answers: map[string]any{}}
	r.allowed, r.denied = map[string]string{"decision": "accept"}, map[string]string{"decision": "decline"}
	switch m.Method {
	case "item/commandExecution/requestApproval":
		command := placed(script(w.Command), w.Cwd, a.dir)
		q := agent.Question{Kind: agent.Permission, Tool: commandTool, Subject: command, Text: command}
		if host := w.Network.Host; host != "" {
			q.Tool, q.Subject, q.Text = networkTool, host, w.Network.Protocol+" "+host+"\n"+command
		}
		q.Altered = command == "" || w.Kind != "" && w.Kind != "command"
		r.questions = []agent.Question{w.reasoned(q)}
	case "item/fileChange/requestApproval":
		r.questions = w.ofPatch(a.patches[w.ItemID], a.dir)
	case "mcpServer/elicitation/request":
		r.allowed, r.denied = map[string]any{"action": "accept", "content": map[string]any{}}, map[string]any{"action": "decline"}
		if w.Meta.Kind == "mcp_tool_call" { // otherwise the server itself asks for information
			tool := item{Type: "mcp_tool_call", Server: w.Server, Tool: w.Meta.Tool}.tool()
			r.questions = []agent.Question{{Kind: agent.Permission, Tool: tool, Text: compact(w.Meta.Params)}}
		}
	case "item/tool/requestUserInput":
		r.allowed, r.denied = map[string]any{"answers": r.answers}, map[string]any{"answers": map[string]any{}}
		for _, q := range w.Questions {
			if !q.Secret && len(r.inquiries) < maxInquiries { // secrets must not enter our files
				r.inquiries, r.questions = append(r.inquiries, q), append(r.questions, q.Ask(personTool))
			}
		}
	default:
		return nil
	}
	r.left = len(r.questions)
	return r
}

// Answered implements agent.Dialogue. A denial has no words in this protocol, so the reason is sent as an input of the running turn ("turn/steer")
// before the response.
func (a *asking) Answered(q agent.Question, answer agent.Answer) {
	id, r, number, waits := a.requests.Answered(q)
	if !waits {
		return
	}
	response := r.denied
	if answer.Verdict != agent.Denied {
		if number < len(r.inquiries) {
			asked := r.inquiries[number]
			r.answers[asked.ID] = map[string]any{"answers": []string{asked.Reply(answer)}}
		}
		if r.left--; r.left > 0 {
			return // the request's other questions are open
		}
		response = r.allowed
	} else {
		a.denied.Add(q.Tool)
		if answer.Text != "" {
			a.peer.Request("turn/steer", map[string]any{"threadId": r.thread, "expectedTurnId": r.turn,
				"input": typed(fmt.Sprintf("You were not allowed to use %s: %s", q.Tool, answer.Text))})
		}
	}
	a.peer.Respond(r.message, response)
	a.next.Withdrawn = append(a.next.Withdrawn, a.requests.Drop(id)...)
}

// Turn implements agent.Dialogue.
func (a *asking) Turn() agent.Turn {
	next := a.next
	next.Tell, a.next = a.peer.Told(), agent.Turn{}
	return next
}

// typed returns a text as an input of a turn.
func typed(text string) []any {
	return []any{map[string]any{"type": "text", "text": text, "text_elements": []any{}}}
}
