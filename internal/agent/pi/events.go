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

// event is any line that pi prints with --mode json. Kinds and fields that are not here are ignored.
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
	// reason is why the last message ended: "stop" if the model was done.
	reason string
	// over: pi reported that its work had ended.
	over   bool
	usage  agent.Usage
	denied agent.DeniedTools
	// failure is the last message's.
	failure *agent.Failure
}

// update begins the line of an unfinished message, which repeats all of it so far. Parsing these lines would cost the square of an answer's length.
var update = []byte(`{"type":"message_update"`)

// Line implements agent.Reader. Lines that repeat others aren't kept: unfinished messages, whole turns and whole conversations.
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
		wait := time.Duration(0)
		if e.Delay > 0 && e.Delay < 1e12 { // otherwise the number makes no sense
			wait = time.Duration(e.Delay * float64(time.Millisecond))
		}
		return []agent.Entry{{Kind: agent.Retrying, Attempt: e.Attempt, Wait: wait, Status: status(e.Problem), Text: agent.Text(e.Problem)}}, true
	case "compaction_end":
		if e.Problem != "" {
			return []agent.Entry{{Kind: agent.Warned, Text: agent.Text(e.Problem)}}, true
		}
	}
	return nil, true
}

// ended reports a finished message.
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
	switch m.Reason { // of an incomplete message
	case "error":
		r.failure = agent.Fail(agent.ModelError(status(m.Problem), m.Problem), "%s", words(m.Problem))
		if r.failure.Code == agent.RateLimited || r.failure.Code == agent.UsageLimited {
			r.failure.Until = until(m.Problem, time.UnixMilli(m.Finished).UTC())
		}
	case "aborted":
		r.failure = agent.Fail(agent.Crashed, "pi stopped its work: %s", m.Problem)
	case "length":
		r.failure = agent.Fail(agent.Crashed, "the model's answer was cut off: it is longer than the model may answer")
	}
	if r.failure != nil {
		entries = append(entries, agent.Entry{Kind: agent.Erred, Text: agent.Text(m.Problem), Status: status(m.Problem)})
	}
	return entries
}

// End implements agent.Reader. pi's exit code says nothing: it is 0 even if the model failed.
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
		e.Failure = agent.Fail(agent.Lost, "pi no longer knows the conversation") // which no event reports
	}
	return e
}

// message is one message of the conversation, of any role.
type message struct {
	Role     string `json:"role"`
	Content  parts  `json:"content"`
	Model    string `json:"model"`
	Usage    usage  `json:"usage"`
	Reason   string `json:"stopReason"` // stop, toolUse, length, error or aborted
	Problem  string `json:"errorMessage"`
	Finished int64  `json:"timestamp"` // milliseconds since 1970
}

type parts []struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (p parts) text() string {
	var texts []string
	for _, part := range p {
		if part.Type == "text" && part.Text != "" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n")
}

type usage struct {
	Input      int64 `json:"input"` // without those of the cache
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Cost       struct {
		Total float64 `json:"total"`
	} `json:"cost"`
}

func (r *reader) returned(e event) []agent.Entry {
	var result struct {
		Content parts `json:"content"`
	}
	_ = json.Unmarshal(e.Result, &result) // of another form, there is nothing to show
	text := agent.Text(result.Content.text())
	tool, call := agent.Text(e.Tool), agent.Text(e.CallID)
	entries := []agent.Entry{{Kind: agent.ToolReturned, Tool: tool, Call: call, Text: text, Failed: e.IsError}}
	if e.IsError && strings.Contains(text, "Tool "+tool+" not found") {
		r.denied.Add(tool)
		entries = append(entries, agent.Entry{Kind: agent.PermissionDenied, Tool: tool, Call: call, Text: text})
	}
	return entries
}
