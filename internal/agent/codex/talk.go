package codex

import (
	"encoding/json"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/jsonrpc"
	"signalbox/internal/agent/pending"
	"signalbox/internal/process"
)

// asking is a reader of a conversation in which it may ask: "codex app-server" speaks JSON-RPC on both
// standard streams. It implements agent.Dialogue.
type asking struct {
	*reader
	model, dir, prompt string
	resumed            *agent.Conversation
	next               agent.Turn
	peer               jsonrpc.Peer
	// requests are the program's open requests.
	requests pending.Requests[*request]
	// patches are the changes of the patches that it is working on, by their items.
	patches map[string][]change
	// counting: it reported the conversation's usage. offset is the part of that usage that its counts leave out.
	counting bool
	offset   agent.Usage
	// failure ended the talk for a reason other than the model's.
	failure *agent.Failure
}

func newAsking(model string, task agent.Task) *asking {
	a := &asking{reader: newReader(task.Conversation), model: model, dir: task.Dir, prompt: task.Prompt,
		patches: map[string][]change{}}
	if c := task.Conversation; c != nil && agent.ValidConversation(c.ID) {
		a.resumed = c
	}
	return a
}

// Our requests, by their numbers. Nothing depends on the answers to later ones.
const (
	initializing = iota + 1
	opening
	beginning
)

// begun returns the first line of the program's input.
func (a *asking) begun() []byte {
	a.peer.Request("initialize", map[string]any{"clientInfo": map[string]string{"name": "signalbox", "version": "1"}})
	return a.Turn().Tell
}

// Line implements agent.Reader. Pieces of a message ("…/delta") aren't kept: the whole message follows.
func (a *asking) Line(line []byte) (entries []agent.Entry, keep bool) {
	m, ok := jsonrpc.Read(line)
	switch {
	case !ok:
	case m.IsRequest():
		id := string(m.ID)
		if a.requests.Has(id) {
			return nil, true
		}
		// Refuse an unknown request, so that the program doesn't wait for an answer.
		switch r := a.wished(m); {
		case r == nil:
			a.peer.Refuse(m)
		case len(r.questions) == 0:
			a.peer.Respond(m, r.denied)
		default:
			a.next.Ask = append(a.next.Ask, a.requests.Put(id, r, r.questions)...)
		}
	case m.IsResponse():
		return a.responded(m), true
	default:
		return a.told(m), !strings.HasSuffix(strings.ToLower(m.Method), "delta")
	}
	return nil, true
}

// responded handles the response to one of our requests, and sends the next request.
func (a *asking) responded(m jsonrpc.Message) []agent.Entry {
	switch number, _ := m.Number(); {
	case number < initializing || number > beginning:
	case m.Error != nil:
		if number == opening && a.resumed != nil {
			return a.stop(agent.Fail(agent.Lost, "Codex no longer knows the conversation: %s", m.Error.Message))
		}
		a.next.Over = true
		return a.fails(m.Error.Message)
	case number == initializing && a.peer.Sent == initializing:
		a.peer.Notify("initialized")
		// Begin or resume the conversation. The folder is the program's working directory; if it were named here, Codex would trust its settings.
		params := map[string]any{"approvalPolicy": everything, "approvalsReviewer": "user", "sandbox": "danger-full-access"}
		if a.model != "" {
			params["model"] = a.model
		}
		method := "thread/start"
		if a.resumed != nil {
			method, params["threadId"] = "thread/resume", a.resumed.ID
		}
		a.peer.Request(method, params)
	case number == opening && a.peer.Sent == opening:
		var opened struct {
			Thread struct {
				ID string `json:"id"`
			} `json:"thread"`
			Model  string          `json:"model"`
			Policy json.RawMessage `json:"approvalPolicy"`
		}
		_ = json.Unmarshal(m.Result, &opened)
		switch {
		case !agent.ValidConversation(opened.Thread.ID):
			return a.stop(agent.Fail(agent.Crashed, "Codex did not open a conversation"))
		case string(opened.Policy) != `"`+everything+`"`:
			return a.stop(agent.Fail(agent.Unavailable, "this Codex would not ask: it goes by its policy %s", opened.Policy))
		}
		a.thread = opened.Thread.ID
		a.peer.Request("turn/start", map[string]any{"threadId": a.thread, "cwd": a.dir, "input": typed(a.prompt)})
		return []agent.Entry{{Kind: agent.Began, Conversation: a.thread, Model: agent.Text(opened.Model)}}
	}
	return nil
}

// stop ends the talk for a reason other than the model's.
func (a *asking) stop(f *agent.Failure) []agent.Entry {
	a.failure, a.next.Over = f, true
	return []agent.Entry{{Kind: agent.Erred, Text: agent.Text(f.Message)}}
}

// everything is the policy by which Codex asks before every use, and neither allows nor denies any by a rule of its own. It accepts this name over its
// interface only.
const everything = "untrusted"

// End implements agent.Reader.
func (a *asking) End(end process.Result, stderr string) agent.Ending {
	e := a.reader.End(end, stderr)
	if a.failure != nil && !e.Whole {
		e.Failure = a.failure
	}
	return e
}
