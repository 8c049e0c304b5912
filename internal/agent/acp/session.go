package acp

import (
	"encoding/json"
	"strings"

	"signalbox/internal/agent"
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

// say prompts it.
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
		return append(entries, t.fail(agent.Fail(agent.Unreachable, "the model's answer ended in its midst"))...)
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
