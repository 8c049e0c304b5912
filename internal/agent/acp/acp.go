// Package acp speaks the Agent Client Protocol: JSON-RPC on a program's standard streams, in which an agent may ask while it works. A Dialect holds
// what differs between vendors' programs.
package acp

import (
	"encoding/json"

	"signalbox/internal/agent"
	"signalbox/internal/agent/jsonrpc"
)

// Talk is a reader of a conversation in which a program may ask. It implements agent.Dialogue.
type Talk struct {
	Dialect
	model, dir, prompt string
	resumed            *agent.Conversation
	session            string
	next               agent.Turn
	peer               jsonrpc.Peer
	// prompted is the id of the current prompt's request. settling is the id of the request whose answer marks the end of a replayed conversation;
	// retold: some of the replay arrived since that request.
	prompted, settling int
	retold             bool
	saying
	using
	// asked maps our questions to the program's requests; refused is what the program will be told about denied ones.
	asked     map[string]jsonrpc.Message
	refused   []string
	denied    agent.DeniedTools
	followUps int
	usage     agent.Usage
	problem   *Problem
	failure   *agent.Failure
	// over: the program reported that it had finished.
	over bool
}

// maxFollowUps is how often the program is told to continue without what was denied.
const maxFollowUps = 20

// New returns the talk about a task. model is the model's name for the transcript.
func New(d Dialect, model string, task agent.Task) *Talk {
	return &Talk{Dialect: d, model: model, dir: task.Dir, prompt: task.Prompt, resumed: task.Conversation,
		peer:  jsonrpc.Peer{Version: "2.0"},
		using: using{tools: map[string]string{}, began: map[string]bool{}}, asked: map[string]jsonrpc.Message{}}
}

// Our requests, by their numbers; prompts follow.
const (
	initializing = 1
	opening      = 2
)

// Begin returns the first line of the program's input.
func (t *Talk) Begin() []byte {
	t.peer.Request("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{},
		"clientInfo": map[string]string{"name": "signalbox", "version": "1"}})
	return t.Turn().Tell
}

// Line implements agent.Reader.
func (t *Talk) Line(line []byte) (entries []agent.Entry, keep bool) {
	m, ok := jsonrpc.Read(line)
	switch {
	case !ok:
	case m.Method == "session/update":
		return t.updated(m.Params), true
	case m.Method == "session/request_permission" && m.IsRequest():
		// Ask the question. Some programs announce a tool call only by this request.
		var p struct {
			Use Use `json:"toolCall"`
		}
		_ = json.Unmarshal(m.Params, &p)
		p.Use.Dir = t.dir
		id := string(m.ID)
		if _, twice := t.asked[id]; twice {
			return nil, true
		}
		t.asked[id] = m
		if t.tools[p.Use.Call] == "" {
			t.note(p.Use)
		}
		q := t.Question(p.Use)
		q.ID, q.Kind, q.Tool = id, agent.Permission, t.tools[p.Use.Call]
		t.next.Ask = append(t.next.Ask, q)
		return append(t.flush(), t.begins(p.Use)...), true
	case m.IsRequest():
		t.peer.Refuse(m)
	case m.IsResponse():
		return t.responded(m), true
	}
	return nil, true
}

// responded handles the response to one of our requests, and sends the next request.
func (t *Talk) responded(m jsonrpc.Message) []agent.Entry {
	switch number, ok := m.Number(); {
	case !ok: // a response to no request of ours
	case m.Error != nil:
		// An error ends the conversation.
		p := *m.Error
		t.problem = &p
		said := words(p)
		if number == opening && t.resumed != nil {
			t.failure = agent.Fail(agent.Lost, "%s no longer knows the conversation: %s", t.Program, said)
		}
		t.next.Over = true
		return append(t.flush(), agent.Entry{Kind: agent.Erred, Text: agent.Text(said)})
	case number == initializing && t.peer.Sent == initializing:
		params := map[string]any{"cwd": t.dir, "mcpServers": []any{}}
		method := "session/new"
		if t.resumed != nil && agent.ValidConversation(t.resumed.ID) {
			method, params["sessionId"] = t.Resume, t.resumed.ID
		} else {
			t.resumed = nil
		}
		t.peer.Request(method, params)
	case number == opening && t.prompted+t.settling == 0:
		var session struct {
			ID string `json:"sessionId"`
		}
		_ = json.Unmarshal(m.Result, &session)
		if t.resumed != nil {
			session.ID = t.resumed.ID
		}
		if !agent.ValidConversation(session.ID) {
			return t.fail(agent.Fail(agent.Crashed, "%s did not open a session", t.Program))
		}
		t.session = session.ID
		if t.resumed != nil && t.Retells {
			t.retold = true
			t.settle()
		} else {
			t.say(t.prompt)
		}
		return []agent.Entry{{Kind: agent.Began, Conversation: t.session, Model: t.model}}
	case number == t.settling && number > opening && t.prompted == 0:
		t.settle()
	case number == t.prompted && number > opening:
		return t.finished(m.Result)
	}
	return nil
}

// Turn implements agent.Dialogue.
func (t *Talk) Turn() agent.Turn {
	next := t.next
	next.Tell, t.next = t.peer.Told(), agent.Turn{}
	return next
}
