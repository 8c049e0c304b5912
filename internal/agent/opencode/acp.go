package opencode

import (
	"encoding/json"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// acp is a reader of a conversation in which it may ask: "opencode acp" speaks the Agent Client Protocol,
// JSON-RPC on both standard streams. It implements agent.Dialogue.
type acp struct {
	*reader
	dir, prompt string
	resumed     *agent.Conversation
	next        agent.Turn
	// sent counts our requests; prompted is the one of the prompt in hand.
	sent, prompted int
	// message is what it says at the moment, of the message with this id.
	message   strings.Builder
	messageID string
	// tools are the names of tools by their calls, began the calls that were told, asked its requests by our questions.
	tools map[string]string
	began map[string]bool
	asked map[string]rpc
	// refused is what it is to be told of what was denied: a denial ends its work without a word.
	refused   []string
	followUps int
	// over: it said that it had finished.
	over bool
}

// maxFollowUps bounds how often it is told to go on without what was denied.
const maxFollowUps = 20

func newACP(model string, task agent.Task) *acp {
	return &acp{reader: &reader{model: model}, dir: task.Dir, prompt: task.Prompt, resumed: task.Conversation, tools: map[string]string{}, began: map[string]bool{}, asked: map[string]rpc{}}
}

// The requests of ours, by their numbers; prompts follow.
const (
	initializing = 1
	opening      = 2
)

// begun is the first line of its input.
func (a *acp) begun() []byte {
	a.request("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{},
		"clientInfo": map[string]string{"name": "signalbox", "version": "1"}})
	return a.Turn().Tell
}

// Line implements agent.Reader.
func (a *acp) Line(line []byte) (entries []agent.Entry, keep bool) {
	var m rpc
	switch err := json.Unmarshal(line, &m); {
	case err != nil:
	case m.Method == "session/update":
		return a.updated(m.Params), true
	case m.Method == "session/request_permission" && m.ID != nil:
		a.permission(m)
	case m.Method != "" && m.ID != nil:
		a.tell(rpc{ID: m.ID, Error: &rpcError{unknownMethod, "this is not known here"}})
	case m.Method == "" && m.ID != nil:
		return a.responded(m), true
	}
	return nil, true
}

// responded goes on where a request of ours was answered.
func (a *acp) responded(m rpc) []agent.Entry {
	var number int
	if json.Unmarshal(m.ID, &number) != nil {
		return nil
	}
	switch {
	case m.Error != nil:
		return a.failed(number, m.Error.Message)
	case number == initializing:
		a.open()
	case number == opening && a.prompted == 0:
		return a.opened(m.Result)
	case number == a.prompted && number > opening:
		return a.finished(m.Result)
	}
	return nil
}

func (a *acp) failed(number int, message string) []agent.Entry {
	a.failure = agent.Fail(agent.ModelError(0, message), "%s", message)
	if number == opening && a.resumed != nil {
		a.failure = agent.Fail(agent.Lost, "opencode does not know the conversation any more: %s", message)
	}
	a.next.Over = true
	return append(a.flush(), agent.Entry{Kind: agent.Erred, Text: agent.Text(message)})
}

func (a *acp) open() {
	params := map[string]any{"cwd": a.dir, "mcpServers": []any{}}
	method := "session/new"
	if a.resumed != nil && agent.ValidConversation(a.resumed.ID) {
		method, params["sessionId"] = "session/resume", a.resumed.ID
	} else {
		a.resumed = nil
	}
	a.request(method, params)
}

func (a *acp) opened(result json.RawMessage) []agent.Entry {
	var session struct {
		ID string `json:"sessionId"`
	}
	_ = json.Unmarshal(result, &session)
	if a.resumed != nil {
		session.ID = a.resumed.ID
	}
	if !agent.ValidConversation(session.ID) {
		return a.failed(0, "opencode began no session")
	}
	a.session = session.ID
	a.say(a.prompt)
	return []agent.Entry{{Kind: agent.Began, Conversation: a.session, Model: a.model}}
}

// say prompts it.
func (a *acp) say(text string) {
	a.request("session/prompt", map[string]any{"sessionId": a.session, "prompt": []any{map[string]string{"type": "text", "text": text}}})
	a.prompted = a.sent
}

// finished is the end of a prompt. After a denial it is none: it is told to go on without.
func (a *acp) finished(result json.RawMessage) []agent.Entry {
	var end struct {
		Reason string `json:"stopReason"`
		Usage  struct {
			Input  int64 `json:"inputTokens"`
			Output int64 `json:"outputTokens"`
			Cached int64 `json:"cachedReadTokens"`
		} `json:"usage"`
	}
	_ = json.Unmarshal(result, &end)
	spent := agent.Usage{InputTokens: end.Usage.Input + end.Usage.Cached, CachedTokens: end.Usage.Cached, OutputTokens: end.Usage.Output}
	a.usage = a.usage.Add(spent)
	entries := append(a.flush(), agent.Entry{Kind: agent.Used, Usage: &spent})
	switch {
	case end.Reason != "end_turn":
		a.failure = agent.Fail(agent.Crashed, "opencode stopped: %s", end.Reason)
		a.next.Over = true
	case len(a.refused) > 0 && a.followUps < maxFollowUps:
		a.followUps++
		a.say(strings.Join(a.refused, "\n"))
		a.refused = nil
	default:
		a.over, a.next.Over = true, true
	}
	return entries
}

// End implements agent.Reader.
func (a *acp) End(end process.Result, stderr string) agent.Ending {
	e := agent.Ending{Usage: a.usage, Denied: a.denied, Failure: a.failure, Whole: a.over, Answer: a.answer.String()}
	if a.session != "" {
		e.Conversation = &agent.Conversation{ID: a.session}
	}
	if e.Failure == nil && !a.over {
		e.Failure = silent(end, stderr, a.last)
	}
	return e
}

// Turn implements agent.Dialogue.
func (a *acp) Turn() agent.Turn {
	next := a.next
	a.next = agent.Turn{}
	return next
}
