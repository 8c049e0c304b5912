package opencode

import (
	"encoding/json"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// event is any line that opencode prints with --format=json. Kinds and fields that are not here are ignored.
type event struct {
	Type      string  `json:"type"`
	Timestamp int64   `json:"timestamp"` // milliseconds since 1970
	SessionID string  `json:"sessionID"`
	Part      part    `json:"part"`
	Error     problem `json:"error"`
}

// part is the content of an event: a text, a tool's use, or the end of a step.
type part struct {
	Text   string  `json:"text"`
	Tool   string  `json:"tool"`
	CallID string  `json:"callID"`
	State  state   `json:"state"`
	Reason string  `json:"reason"`
	Tokens tokens  `json:"tokens"`
	Cost   float64 `json:"cost"`
}

// state is the result of a tool's use, reported at its end.
type state struct {
	Status string          `json:"status"`
	Input  json.RawMessage `json:"input"`
	Output string          `json:"output"`
	Error  string          `json:"error"`
}

type tokens struct {
	Input     int64 `json:"input"` // without those of the cache
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

// reader implements agent.Reader.
type reader struct {
	model   string
	session string
	// last is the time of the last event.
	last   time.Time
	answer strings.Builder
	// reason is why the last step ended: "stop" if the model was done.
	reason string
	broken int
	usage  agent.Usage
	denied agent.DeniedTools
	// failure is the last step's.
	failure *agent.Failure
}

// Line implements agent.Reader.
func (r *reader) Line(line []byte) (entries []agent.Entry, keep bool) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return nil, true
	}
	r.last = time.UnixMilli(e.Timestamp).UTC()
	if r.session == "" && agent.ValidConversation(e.SessionID) {
		r.session = e.SessionID
		entries = append(entries, agent.Entry{Kind: agent.Began, Conversation: e.SessionID, Model: r.model})
	}
	switch e.Type {
	case "step_start":
		r.answer.Reset()
		r.reason = ""
	case "text":
		text := e.Part.Text
		if r.answer.Len() > 0 {
			r.answer.WriteByte('\n')
		}
		if r.answer.Len()+len(text) > agent.MaxAnswer {
			r.answer.Reset()
			text = text[max(0, len(text)-agent.MaxAnswer):]
		}
		r.answer.WriteString(text)
		entries = append(entries, agent.Entry{Kind: agent.Said, Text: agent.Text(text)})
	case "tool_use":
		entries = append(entries, r.used(e.Part)...)
	case "step_finish":
		entries = append(entries, r.finished(e.Part)...)
	case "error":
		p := e.Error
		message := p.Data.Message
		if message == "" {
			message = p.Name
		}
		f := agent.Fail(class(p), "%s", message)
		if f.Code == agent.RateLimited || f.Code == agent.UsageLimited {
			f.Until = until(p.Data.Headers["retry-after"], r.last)
		}
		r.failure = f
		entries = append(entries, agent.Entry{Kind: agent.Erred, Text: agent.Text(r.failure.Message), Status: e.Error.Data.Status})
	}
	return entries, true
}

// finished handles the end of a step. A step with an unknown reason had half an answer; the program would repeat it endlessly.
func (r *reader) finished(p part) []agent.Entry {
	spent := agent.Usage{
		InputTokens:  p.Tokens.Input + p.Tokens.Cache.Read + p.Tokens.Cache.Write,
		CachedTokens: p.Tokens.Cache.Read + p.Tokens.Cache.Write,
		OutputTokens: p.Tokens.Output + p.Tokens.Reasoning,
		CostUSD:      p.Cost,
	}
	r.usage, r.reason, r.failure = r.usage.Add(spent), p.Reason, nil
	entries := []agent.Entry{{Kind: agent.Used, Usage: &spent}}
	switch p.Reason {
	case "unknown":
		r.broken++
		r.failure = agent.Fail(agent.Unreachable, "the model's answer broke off")
		return append(entries, agent.Entry{Kind: agent.Retrying, Attempt: r.broken, Text: r.failure.Message})
	case "length":
		r.failure = agent.Fail(agent.Crashed, "the model's answer was cut off: it is longer than the model may answer")
	case "content-filter":
		r.failure = agent.Fail(agent.Refused, "the model's server held its answer back")
	}
	return entries
}

// End implements agent.Reader.
func (r *reader) End(end process.Result, stderr string) agent.Ending {
	e := agent.Ending{Usage: r.usage, Denied: r.denied, Failure: r.failure}
	if r.session != "" {
		e.Conversation = &agent.Conversation{ID: r.session}
	}
	switch {
	case r.failure != nil:
	case r.reason == "stop":
		e.Whole, e.Answer = end.OK(), r.answer.String()
	case r.reason == "tool-calls" && len(r.denied) > 0 && end.OK():
		e.Failure = agent.Fail(agent.Crashed, "opencode gave up when it was not allowed to use %s", strings.Join(r.denied, ", "))
	default:
		e.Failure = silent(end, stderr, r.last)
	}
	return e
}

// used reports the call of a tool and its result, which are one event.
func (r *reader) used(p part) []agent.Entry {
	failed := p.State.Status == "error"
	text := p.State.Output
	if failed {
		text = p.State.Error
	}
	entries := []agent.Entry{
		{Kind: agent.ToolCalled, Tool: agent.Text(p.Tool), Call: agent.Text(p.CallID), Text: agent.Text(agent.ToolInput(p.State.Input))},
		{Kind: agent.ToolReturned, Tool: agent.Text(p.Tool), Call: agent.Text(p.CallID), Text: agent.Text(text), Failed: failed},
	}
	if failed && (strings.Contains(p.State.Error, "rejected permission") || strings.Contains(p.State.Error, "which prevents you from using")) {
		r.denied.Add(p.Tool)
		entries = append(entries, agent.Entry{Kind: agent.PermissionDenied, Tool: agent.Text(p.Tool), Call: agent.Text(p.CallID), Text: agent.Text(text)})
	}
	return entries
}
