package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// settle sends the prompt once the replay is over. The replay arrives without gaps, so if it is still going on, some of it arrives within a
// request's round trip.
func (t *Talk) settle() {
	if !t.retold {
		t.say(t.prompt)
		return
	}
	t.retold = false
	t.peer.Request(t.Settle(t.session))
	t.settling = t.peer.Sent
}

// say sends a prompt.
func (t *Talk) say(text string) {
	t.peer.Request("session/prompt", map[string]any{"sessionId": t.session, "prompt": []any{map[string]string{"type": "text", "text": text}}})
	t.prompted, t.spoke = t.peer.Sent, false
}

// finished handles the end of a prompt. After a denial the program is told why, and to continue without.
func (t *Talk) finished(result json.RawMessage) []agent.Entry {
	var end struct {
		Reason string `json:"stopReason"`
	}
	_ = json.Unmarshal(result, &end)
	spent := t.Spent(result)
	t.usage = t.usage.Add(spent)
	entries := append(t.flush(), agent.Entry{Kind: agent.Used, Usage: &spent})
	switch {
	case end.Reason != "end_turn":
		t.failure = agent.Fail(agent.Crashed, "%s stopped: %s", t.Program, end.Reason)
		t.next.Over = true
	case t.Cut != nil && t.Cut(spent, t.spoke):
		return append(entries, t.fail(agent.Fail(agent.Unreachable, "the model's answer broke off"))...)
	case len(t.refused) > 0 && t.followUps < maxFollowUps:
		t.followUps++
		said := strings.Join(t.refused, "\n")
		t.refused = nil
		t.say(said)
	default:
		t.over, t.next.Over = true, true
	}
	return entries
}

// words returns a problem's message, with its details if there are any.
func words(p Problem) string {
	var data struct {
		Details string `json:"details"`
	}
	_ = json.Unmarshal(p.Data, &data) // data of another form has no details
	if data.Details == "" {
		return p.Message
	}
	return p.Message + ": " + data.Details
}

// fail ends the talk for a reason that we found.
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

// choice is an answer that a program offers.
type choice struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// Answered implements agent.Dialogue. A denial has no words in this protocol, so the reason is sent as a prompt once the turn is over.
func (t *Talk) Answered(q agent.Question, answer agent.Answer) {
	m, open := t.asked[q.ID]
	if !open {
		return
	}
	delete(t.asked, q.ID)
	kind := "allow_once"
	if answer.Verdict == agent.Denied {
		kind = "reject_once"
		t.refused = append(t.refused, fmt.Sprintf("You were not allowed to use %s: %s", q.Tool, cmp.Or(answer.Text, "continue without it.")))
		t.denied.Add(q.Tool)
	}
	// The program offers its answers, each with a kind. Without one of the right kind, the request is canceled.
	var p struct {
		Options []choice `json:"options"`
	}
	_ = json.Unmarshal(m.Params, &p)
	of := map[string]string{"outcome": "cancelled"}
	if i := slices.IndexFunc(p.Options, func(c choice) bool { return c.Kind == kind }); i >= 0 {
		of = map[string]string{"outcome": "selected", "optionId": p.Options[i].ID}
	}
	t.peer.Respond(m, map[string]any{"outcome": of})
}
