package pi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// event is any line that it prints with --mode json. Kinds and fields that are not here are passed over.
type event struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"` // of a session
	Message json.RawMessage `json:"message"`

	// Of tool_execution_start and _end.
	CallID  string          `json:"toolCallId"`
	Tool    string          `json:"toolName"`
	Args    json.RawMessage `json:"args"`
	Result  json.RawMessage `json:"result"`
	IsError bool            `json:"isError"`

	// Of auto_retry_start, auto_retry_end and compaction_end.
	Attempt int     `json:"attempt"`
	Delay   float64 `json:"delayMs"`
	Problem string  `json:"errorMessage"`
}

// reader implements agent.Reader.
type reader struct {
	model   string
	session string
	answer  string
	// reason is that of the last message: "stop" where the model had nothing more to do.
	reason string
	// over: it said that its work had ended.
	over   bool
	usage  agent.Usage
	denied agent.DeniedTools
	// failure is of what was tried last.
	failure *agent.Failure
}

// update begins a piece of a message, which has all of it so far: read, the pieces of a long answer
// would cost the square of its length.
var update = []byte(`{"type":"message_update"`)

// Line implements agent.Reader. Not kept is what repeats others: pieces of a message with all of it
// so far, and whole turns and conversations.
func (r *reader) Line(line []byte) (entries []agent.Entry, keep bool) {
	var e event
	switch {
	case bytes.HasPrefix(line, update):
		return nil, false
	case json.Unmarshal(line, &e) != nil:
		return nil, true
	}
	switch e.Type {
	case "session":
		if !agent.ValidConversation(e.ID) {
			return nil, true
		}
		r.session = e.ID
		return []agent.Entry{{Kind: agent.Began, Conversation: e.ID, Model: r.model}}, true
	case "message_start", "message_update", "tool_execution_update", "turn_end":
		return nil, false
	case "turn_start":
		r.reason, r.over = "", false
	case "agent_end":
		r.over = true
		return nil, false
	case "message_end":
		return r.ended(e.Message), true
	case "tool_execution_start":
		return []agent.Entry{{Kind: agent.ToolCalled, Tool: agent.Text(e.Tool), Call: agent.Text(e.CallID), Text: agent.Text(agent.ToolInput(e.Args))}}, true
	case "tool_execution_end":
		return r.returned(e), true
	case "auto_retry_start":
		return []agent.Entry{{Kind: agent.Retrying, Attempt: e.Attempt, Wait: wait(e.Delay), Status: status(e.Problem), Text: agent.Text(e.Problem)}}, true
	case "compaction_end":
		if e.Problem != "" {
			return []agent.Entry{{Kind: agent.Warned, Text: agent.Text(e.Problem)}}, true
		}
	}
	return nil, true
}

// ended takes a message that is whole.
func (r *reader) ended(raw json.RawMessage) (entries []agent.Entry) {
	var m message
	if json.Unmarshal(raw, &m) != nil || m.Role != "assistant" {
		return nil
	}
	r.reason, r.answer, r.failure = m.Reason, m.Content.text(), nil
	if len(r.answer) > agent.MaxAnswer {
		r.answer = r.answer[len(r.answer)-agent.MaxAnswer:]
	}
	if r.answer != "" {
		entries = append(entries, agent.Entry{Kind: agent.Said, Text: agent.Text(r.answer)})
	}
	cached := m.Usage.CacheRead + m.Usage.CacheWrite
	spent := agent.Usage{InputTokens: m.Usage.Input + cached, CachedTokens: cached, OutputTokens: m.Usage.Output, CostUSD: m.Usage.Cost.Total}
	if spent != (agent.Usage{}) {
		r.usage = r.usage.Add(spent)
		entries = append(entries, agent.Entry{Kind: agent.Used, Usage: &spent})
	}
	if r.failure = m.failure(); r.failure != nil {
		entries = append(entries, agent.Entry{Kind: agent.Erred, Text: agent.Text(m.Problem), Status: status(m.Problem)})
	}
	return entries
}

// wait returns a delay of at most what a person would call one.
func wait(milliseconds float64) time.Duration {
	if !(milliseconds > 0 && milliseconds < 1e12) {
		return 0
	}
	return time.Duration(milliseconds * float64(time.Millisecond))
}

// End implements agent.Reader. Its exit code says nothing: it is 0 also where the model failed.
func (r *reader) End(end process.Result, stderr string) agent.Ending {
	e := agent.Ending{Usage: r.usage, Denied: r.denied, Failure: r.failure}
	if r.session != "" {
		e.Conversation = &agent.Conversation{ID: r.session}
	}
	switch {
	case r.failure != nil:
	case r.reason == "stop" && (r.over || end.OK()):
		e.Whole, e.Answer = true, r.answer
	case r.session == "" && slices.ContainsFunc(lost, func(words string) bool { return strings.Contains(stderr, words) }):
		e.Failure = agent.Fail(agent.Lost, "pi does not know the conversation any more") // which it tells in no event
	}
	return e
}
