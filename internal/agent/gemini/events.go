package gemini

import (
	"cmp"
	"encoding/json"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// event is any line that Gemini CLI prints with --output-format=stream-json. Kinds and fields that are not here are ignored.
type event struct {
	Type    string `json:"type"`
	Session string `json:"session_id"`
	Model   string `json:"model"`

	// Of a message, which comes in pieces, and of an error.
	Role     string `json:"role"`
	Content  string `json:"content"`
	Severity string `json:"severity"` // warning or error
	Message  string `json:"message"`

	// Of tool_use and tool_result.
	Tool   string          `json:"tool_name"`
	Call   string          `json:"tool_id"`
	Input  json.RawMessage `json:"parameters"`
	Output string          `json:"output"`

	// Of tool_result and result.
	Status string  `json:"status"` // success or error
	Error  problem `json:"error"`
	Stats  struct {
		Input  int64 `json:"input_tokens"`
		Cached int64 `json:"cached"`
		Output int64 `json:"output_tokens"`
	} `json:"stats"`
}

type problem struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// reader implements agent.Reader.
type reader struct {
	session string
	// piece is the text since the last event of another kind, answer the text since the last tool.
	piece, answer strings.Builder
	tools         map[string]string // by call
	usage         agent.Usage
	denied        agent.DeniedTools
	// erred is the error it reported; ended is its final event.
	erred string
	ended *event
}

// Line implements agent.Reader.
func (r *reader) Line(line []byte) (entries []agent.Entry, keep bool) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return nil, true
	}
	if e.Type == "message" {
		if e.Role == "assistant" {
			add(&r.piece, e.Content)
			add(&r.answer, e.Content)
		}
		return nil, true
	}
	if r.piece.Len() > 0 {
		entries = append(entries, agent.Entry{Kind: agent.Said, Text: agent.Text(r.piece.String())})
		r.piece.Reset()
	}
	return append(entries, r.happened(e)...), true
}

// add appends text, and drops the beginning of what became too long.
func add(to *strings.Builder, text string) {
	if to.Len()+len(text) > agent.MaxAnswer {
		all := to.String() + text
		text = strings.ToValidUTF8(all[max(0, len(all)-agent.MaxAnswer/2):], "")
		to.Reset()
	}
	to.WriteString(text)
}

// happened reports an event that is no message.
func (r *reader) happened(e event) []agent.Entry {
	switch e.Type {
	case "init":
		if agent.ValidConversation(e.Session) {
			r.session = e.Session
			return []agent.Entry{{Kind: agent.Began, Conversation: e.Session, Model: agent.Text(e.Model)}}
		}
	case "tool_use":
		r.answer.Reset()
		if r.tools == nil {
			r.tools = map[string]string{}
		}
		tool, call := agent.Text(e.Tool), agent.Text(e.Call)
		r.tools[call] = tool
		return []agent.Entry{{Kind: agent.ToolCalled, Tool: tool, Call: call, Text: agent.Text(agent.ToolInput(e.Input))}}
	case "tool_result":
		r.answer.Reset()
		call := agent.Text(e.Call)
		tool, text := r.tools[call], e.Output
		delete(r.tools, call)
		if e.Status == "error" {
			text = e.Error.Message
		}
		entries := []agent.Entry{{Kind: agent.ToolReturned, Tool: tool, Call: call, Text: agent.Text(text), Failed: e.Status == "error"}}
		if e.Status == "error" && (e.Error.Type == "policy_violation" || strings.Contains(e.Error.Message, "denied by policy") || strings.HasPrefix(e.Error.Message, "Access denied: plan path")) {
			r.denied.Add(tool)
			entries = append(entries, agent.Entry{Kind: agent.PermissionDenied, Tool: tool, Call: call, Text: agent.Text(text)})
		}
		return entries
	case "error":
		if e.Severity == "warning" {
			return []agent.Entry{{Kind: agent.Warned, Text: agent.Text(e.Message)}}
		}
		r.erred = e.Message
		return []agent.Entry{{Kind: agent.Erred, Text: agent.Text(e.Message)}}
	case "result":
		return r.over(e)
	}
	return nil
}

// over handles its final event, which reports the total usage.
func (r *reader) over(e event) (entries []agent.Entry) {
	r.ended = &e
	r.usage = agent.Usage{InputTokens: e.Stats.Input, CachedTokens: e.Stats.Cached, OutputTokens: e.Stats.Output}
	if r.usage != (agent.Usage{}) {
		used := r.usage
		entries = append(entries, agent.Entry{Kind: agent.Used, Usage: &used})
	}
	if e.Status != "success" && e.Error.Message != "" {
		entries = append(entries, agent.Entry{Kind: agent.Erred, Text: agent.Text(e.Error.Message)})
	}
	return entries
}

// End implements agent.Reader.
func (r *reader) End(end process.Result, stderr string) agent.Ending {
	e := agent.Ending{Usage: r.usage, Denied: r.denied}
	if r.session != "" {
		e.Conversation = &agent.Conversation{ID: r.session}
	}
	switch {
	case r.ended != nil && r.ended.Status == "success":
		e.Whole, e.Answer = true, r.answer.String()
	case r.ended != nil:
		said := cmp.Or(r.ended.Error.Message, r.erred, "Gemini CLI ended with an unknown error")
		if strings.HasPrefix(said, "Model stream ended") {
			e.Failure = agent.Fail(agent.Unreachable, "%s", said)
			break
		}
		code := agent.ModelError(status(end, said), said)
		if end.ExitCode == exitUnauthorized {
			code = agent.Unauthorized
		}
		e.Failure = agent.Fail(code, "%s", words(said))
		if code == agent.RateLimited || code == agent.UsageLimited {
			e.Failure.Until = until(said, end.Started.Add(end.Duration))
		}
	default:
		e.Failure = silent(end, stderr)
	}
	return e
}
