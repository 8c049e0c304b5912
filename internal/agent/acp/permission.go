package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"signalbox/internal/agent"
)

// choice is an answer that a program takes.
type choice struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// Answered implements agent.Dialogue. A denial has no words in this protocol, so they are said once the
// turn is over.
func (t *Talk) Answered(q agent.Question, answer agent.Answer) {
	m, open := t.asked[q.ID]
	if !open {
		return
	}
	delete(t.asked, q.ID)
	kind := "allow_once"
	if answer.Verdict == agent.Denied {
		kind = "reject_once"
		t.refused = append(t.refused, fmt.Sprintf("You were not allowed to use %s: %s", q.Tool, cmp.Or(answer.Text, "go on without it.")))
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
