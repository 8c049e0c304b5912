package pi

import (
	"encoding/json"
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

// message is one of the conversation, whoever said it.
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

func (u usage) spent() agent.Usage {
	cached := u.CacheRead + u.CacheWrite
	return agent.Usage{InputTokens: u.Input + cached, CachedTokens: cached, OutputTokens: u.Output, CostUSD: u.Cost.Total}
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
	denied []string
	// failure is of what was tried last.
	failure *agent.Failure
}

// Line implements agent.Reader. Not kept is what repeats others: pieces of a message with all of it
// so far, and whole turns and conversations.
func (r *reader) Line(line []byte) (entries []agent.Entry, keep bool) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return nil, true
	}
	switch e.Type {
	case "session":
		return r.began(e.ID), true
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
		return []agent.Entry{{Kind: agent.ToolCalled, Tool: agent.Text(e.Tool), Call: agent.Text(e.CallID), Text: agent.Text(input(e.Args))}}, true
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

func (r *reader) began(id string) []agent.Entry {
	if !agent.ValidConversation(id) {
		return nil
	}
	r.session = id
	return []agent.Entry{{Kind: agent.Began, Conversation: id, Model: r.model}}
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
	if spent := m.Usage.spent(); spent != (agent.Usage{}) {
		r.usage = r.usage.Add(spent)
		entries = append(entries, agent.Entry{Kind: agent.Used, Usage: &spent})
	}
	if r.failure = m.failure(); r.failure != nil {
		entries = append(entries, agent.Entry{Kind: agent.Erred, Text: agent.Text(m.Problem), Status: status(m.Problem)})
	}
	return entries
}

func (r *reader) returned(e event) []agent.Entry {
	var result struct {
		Content parts `json:"content"`
	}
	_ = json.Unmarshal(e.Result, &result) // of another form, there is nothing to show
	text := agent.Text(result.Content.text())
	tool, call := agent.Text(e.Tool), agent.Text(e.CallID)
	entries := []agent.Entry{{Kind: agent.ToolReturned, Tool: tool, Call: call, Text: text, Failed: e.IsError}}
	if e.IsError && missing(text, tool) {
		r.denied = append(r.denied, tool)
		entries = append(entries, agent.Entry{Kind: agent.PermissionDenied, Tool: tool, Call: call, Text: text})
	}
	return entries
}

// input is what a person wants to see of a tool's input: a shell's command, or else all of it.
func input(raw json.RawMessage) string {
	var shell struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(raw, &shell) == nil && shell.Command != "" {
		return shell.Command
	}
	return string(raw)
}

// wait is a delay of at most what a person would call one.
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
	case r.session == "":
		e.Failure = notBegun(stderr)
	}
	return e
}
