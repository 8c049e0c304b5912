package claude

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// reader implements agent.Reader.
type reader struct {
	resumed *agent.Conversation
	session string
	denied  agent.DeniedTools
	// class is the class of the last error; limit is the last reported limit.
	class string
	limit rateLimit
	// spent is the usage reported by the messages. The last message is kept apart, because its usage is repeated with each of its blocks.
	spent agent.Usage
	last  struct {
		id    string
		usage agent.Usage
	}
	retrying *agent.Failure
	result   *result
	// called are the inputs of its tools, by the ids of the calls: a denial only has the id.
	called map[string]string
}

// Line implements agent.Reader.
func (r *reader) Line(line []byte) ([]agent.Entry, bool) {
	var e event
	if !agent.DecodeLoosely(line, &e) {
		return nil, true
	}
	switch e.Type {
	case "system":
		switch e.Subtype {
		case "init":
			if agent.ValidConversation(e.SessionID) {
				r.session = e.SessionID
			}
			return []agent.Entry{{Kind: agent.Began, Conversation: r.session, Model: agent.Text(e.Model)}}, true
		case "api_retry":
			r.retrying = failure(e.ErrorStatus, e.Class, "", "the model is called again: "+cmp.Or(e.Class, "unknown"))
			wait := time.Duration(e.RetryDelay) * time.Millisecond
			return []agent.Entry{{Kind: agent.Retrying, Attempt: e.Attempt, Wait: wait, Status: e.ErrorStatus, Text: agent.Text(e.Class)}}, true
		case "permission_denied":
			r.denied.Add(e.ToolName)
			return []agent.Entry{{Kind: agent.PermissionDenied, Tool: agent.Text(e.ToolName), Call: agent.Text(e.ToolUseID), Text: r.called[e.ToolUseID]}}, true
		}
		return nil, true
	case "assistant":
		return r.assistant(e), true
	case "user":
		var entries []agent.Entry
		for _, b := range blocks(e.Message.Content) {
			if b.Type == "tool_result" {
				entries = append(entries, agent.Entry{Kind: agent.ToolReturned, Call: agent.Text(b.ToolUseID), Failed: b.IsError, Text: agent.Text(text(b.Content))})
			}
		}
		return entries, true
	case "rate_limit_event":
		r.limit = e.Limit
	case "result":
		r.result = &e.result
		if e.Subtype != "success" {
			r.result.IsError = true
			r.result.Answer = cmp.Or(slices.Concat([]string{r.result.Answer}, e.Errors[:min(1, len(e.Errors))], []string{e.Subtype})...)
		}
		for _, d := range e.Denials {
			r.denied.Add(d.Tool)
		}
		used := r.used()
		return []agent.Entry{{Kind: agent.Used, Usage: &used}}, true
	}
	return nil, true
}

// assistant reports a message of the model, or an error in place of one.
func (r *reader) assistant(e event) (entries []agent.Entry) {
	if e.APIError {
		r.class = e.Class
		return []agent.Entry{{Kind: agent.Erred, Status: e.Status, Text: agent.Text(text(e.Message.Content))}}
	}
	r.retrying = nil
	if e.Message.ID != r.last.id {
		r.spent = r.spent.Add(r.last.usage)
	}
	r.last.id, r.last.usage = e.Message.ID, e.Message.Usage.total()
	for _, b := range blocks(e.Message.Content) {
		switch b.Type {
		case "text":
			entries = append(entries, agent.Entry{Kind: agent.Said, Text: agent.Text(b.Text)})
		case "tool_use":
			if r.called == nil || len(r.called) >= maxCalled {
				r.called = map[string]string{}
			}
			r.called[b.ID] = agent.Text(wanted(b.Input))
			entries = append(entries, agent.Entry{Kind: agent.ToolCalled, Tool: agent.Text(b.Name), Call: agent.Text(b.ID), Text: r.called[b.ID]})
		}
	}
	return entries
}

// maxCalled is more calls than are open at once.
const maxCalled = 100

// End implements agent.Reader.
func (r *reader) End(_ process.Result, stderr string) agent.Ending {
	ending := agent.Ending{Usage: r.used(), Denied: r.denied}
	if r.session != "" {
		ending.Conversation = &agent.Conversation{ID: r.session, Usage: r.counted()}
	}
	said := stderr
	switch {
	case r.result == nil:
		ending.Failure = r.retrying
	case r.result.IsError || r.result.Reason != "" && r.result.Reason != "completed":
		end := r.result
		message := cmp.Or(end.Answer, "Claude Code ended: "+end.Reason)
		if end.Reason != "" && end.Reason != "completed" && end.Reason != "api_error" {
			message = end.Reason + ": " + message
		}
		f := failure(end.Status, r.class, end.Reason, message)
		if code := kinds[end.ErrorKind]; code != "" {
			f.Code = code
		}
		rejected := r.limit.Status == "rejected" && r.limit.ResetsAt > 0
		if rejected && (f.Code == agent.RateLimited || f.Code == agent.UsageLimited) {
			f.Code, f.Until = agent.UsageLimited, time.Unix(r.limit.ResetsAt, 0).UTC()
		}
		said, ending.Failure = r.result.Answer, f
	default:
		ending.Whole, ending.Answer = true, r.result.Answer
		return ending
	}
	// The stream that reports a lost conversation depends on the version.
	if _, id, found := strings.Cut(said, "No conversation found with session ID:"); found {
		ending.Failure, ending.Conversation = agent.Fail(agent.Lost, "Claude Code no longer knows conversation %s", id), nil
	}
	return ending
}
