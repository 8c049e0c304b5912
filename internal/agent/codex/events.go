package codex

import (
	"cmp"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// event is any line that "codex exec --json" prints. Kinds and fields that are not here are ignored.
type event struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Item     item   `json:"item"`
	Message  string `json:"message"` // of error
	Error    struct {
		Message string `json:"message"`
	} `json:"error"` // of turn.failed
	Usage usage `json:"usage"` // of turn.completed
}

// usage is cumulative over all calls of a conversation.
type usage struct {
	Input   int64 `json:"input_tokens"`
	Read    int64 `json:"cached_input_tokens"`
	Written int64 `json:"cache_write_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

func (u usage) total() agent.Usage {
	return agent.Usage{InputTokens: u.Input, CachedTokens: u.Read + u.Written, OutputTokens: u.Output}
}

// reader implements agent.Reader.
type reader struct {
	// before is the conversation's usage before this call, counted its usage now.
	before, counted agent.Usage
	thread, answer  string
	denied          agent.DeniedTools
	// begun are the items whose call was reported.
	begun map[string]bool
	// retrying is why Codex calls the model again, failed why it gave up.
	retrying, failed string
	completed        bool
}

func newReader(resumed *agent.Conversation) *reader {
	r := &reader{begun: map[string]bool{}}
	if resumed != nil {
		r.before, r.counted = resumed.Usage, resumed.Usage
	}
	return r
}

// Line implements agent.Reader.
func (r *reader) Line(line []byte) ([]agent.Entry, bool) {
	var e event
	if !agent.DecodeLoosely(line, &e) {
		return nil, true
	}
	switch e.Type {
	case "thread.started":
		if agent.ValidConversation(e.ThreadID) {
			r.thread = e.ThreadID
		}
		return []agent.Entry{{Kind: agent.Began, Conversation: r.thread}}, true
	case "item.started":
		return r.begins(e.Item), true
	case "item.completed":
		r.retrying = ""
		return r.ends(e.Item), true
	case "error":
		// Codex reports a retry and an error by the same event.
		attempt, reason, again := retry(e.Message)
		if !again {
			return r.fails(e.Message), true
		}
		return r.retries(attempt, reason), true
	case "turn.failed":
		return r.fails(cmp.Or(e.Error.Message, "the turn failed")), true
	case "turn.completed":
		return r.completes(e.Usage.total()), true
	}
	return nil, true
}

// retries reports that the model is called again.
func (r *reader) retries(attempt int, reason string) []agent.Entry {
	r.retrying = reason
	return []agent.Entry{{Kind: agent.Retrying, Attempt: attempt, Status: status(reason), Text: agent.Text(reason)}}
}

// fails reports an error once: the event of the failed turn repeats the error before it.
func (r *reader) fails(message string) []agent.Entry {
	if r.failed == message {
		return nil
	}
	r.failed, r.retrying = message, ""
	return []agent.Entry{{Kind: agent.Erred, Status: status(message), Text: agent.Text(message)}}
}

// completes ends the turn well, with the conversation's usage.
func (r *reader) completes(counted agent.Usage) []agent.Entry {
	r.completed, r.failed, r.retrying = true, "", ""
	r.counted = counted
	if counted.InputTokens < r.before.InputTokens { // a cumulative count doesn't decrease, so this one began anew
		r.counted = r.before.Add(counted)
	}
	used := r.counted.Sub(r.before)
	return []agent.Entry{{Kind: agent.Used, Usage: &used}}
}

// End implements agent.Reader.
func (r *reader) End(end process.Result, stderr string) agent.Ending {
	ending := agent.Ending{Usage: r.counted.Sub(r.before), Denied: r.denied}
	if r.thread != "" {
		ending.Conversation = &agent.Conversation{ID: r.thread, Usage: r.counted}
	}
	now := end.Started.Add(end.Duration).UTC()
	switch {
	case r.completed:
		ending.Whole, ending.Answer = true, r.answer
	case r.failed != "":
		ending.Failure = failure(r.failed, now)
	case r.retrying != "":
		ending.Failure = failure(r.retrying, now)
	case strings.Contains(stderr, "no rollout found"):
		ending.Failure = agent.Fail(agent.Lost, "Codex no longer knows the conversation")
	}
	return ending
}
