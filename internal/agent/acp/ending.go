package acp

import (
	"encoding/json"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// words returns those of a problem, with its details where there are any.
func words(p Problem) string {
	var data struct {
		Details string `json:"details"`
	}
	_ = json.Unmarshal(p.Data, &data) // data of another kind says nothing
	if data.Details == "" {
		return p.Message
	}
	return p.Message + ": " + data.Details
}

// fail ends the talk for a reason of ours.
func (t *Talk) fail(f *agent.Failure) []agent.Entry {
	t.failure, t.next.Over = f, true
	return append(t.flush(), agent.Entry{Kind: agent.Erred, Text: f.Message})
}

// End implements agent.Reader.
func (t *Talk) End(end process.Result, stderr string) agent.Ending {
	e := agent.Ending{Usage: t.usage, Denied: t.denied, Failure: t.failure, Whole: t.over, Answer: t.answer}
	if t.session != "" {
		e.Conversation = &agent.Conversation{ID: t.session}
	}
	switch {
	case e.Failure != nil || t.over:
	case t.problem != nil:
		e.Failure = t.Failure(*t.problem, end)
	default:
		e.Failure = t.Silent(end, stderr)
	}
	return e
}
