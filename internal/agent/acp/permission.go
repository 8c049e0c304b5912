package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/jsonrpc"
)

// choice is an answer that a program takes.
type choice struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// permission puts a request as a question. Some programs tell of a call only by it.
func (t *Talk) permission(m jsonrpc.Message) []agent.Entry {
	var p struct {
		Use Use `json:"toolCall"`
	}
	_ = json.Unmarshal(m.Params, &p)
	p.Use.Dir = t.dir
	id := string(m.ID)
	if _, twice := t.asked[id]; twice {
		return nil
	}
	t.asked[id] = m
	if t.tools[p.Use.Call] == "" {
		t.note(p.Use)
	}
	q := t.Question(p.Use)
	q.ID, q.Kind, q.Tool = id, agent.Permission, t.tools[p.Use.Call]
	t.next.Ask = append(t.next.Ask, q)
	return append(t.flush(), t.begins(p.Use)...)
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
	t.peer.Respond(m, outcome(m.Params, kind))
}

// outcome returns the answer of a kind among those that a request takes.
func outcome(params json.RawMessage, kind string) any {
	var p struct {
		Options []choice `json:"options"`
	}
	_ = json.Unmarshal(params, &p)
	of := map[string]string{"outcome": "cancelled"}
	if i := slices.IndexFunc(p.Options, func(c choice) bool { return c.Kind == kind }); i >= 0 {
		of = map[string]string{"outcome": "selected", "optionId": p.Options[i].ID}
	}
	return map[string]any{"outcome": of}
}

// followUp returns the message after a denial.
func (t *Talk) followUp() string {
	t.followUps++
	said := strings.Join(t.refused, "\n")
	t.refused = nil
	return said
}
