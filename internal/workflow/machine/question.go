package machine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"signalbox/internal/workflow"
)

// maxAllowed is how many patterns people may add to a run for one role.
const maxAllowed = 200

// questionAsked puts a question of the pending action's agent to people.
func (m *machine) questionAsked(e workflow.Asked) bool {
	r, j := &m.run, &m.run.Details
	if r.State != workflow.Running || len(j.Pending) == 0 || j.Pending[0].Key != e.Question.Key {
		return false
	}
	within := time.Duration(j.Settings.Limits.AnswerWithinSec) * time.Second
	if within <= 0 {
		within = workflow.DefaultAnswerWithinSec * time.Second
	}
	q := e.Question
	j.Questions++
	q.ID, q.Role, q.AskedAt, q.Until = fmt.Sprintf("Q%d", j.Questions), j.Pending[0].Role, m.now, m.now.Add(within)
	j.Question = &q
	m.say("waits for an answer: %s", q.Line1())
	return true
}

// questionWithdrawn: the agent wants no answer any more.
func (m *machine) questionWithdrawn(e workflow.Withdrawn) bool {
	q := m.run.Details.Question
	if q == nil || q.ID != e.Question {
		return false
	}
	m.run.Details.Question = nil
	m.sayDoing()
	return true
}

// questionAnswered takes an answer to the question that is asked, and to no other.
func (m *machine) questionAnswered(e workflow.Answered) bool {
	r, j := &m.run, &m.run.Details
	left := len(r.Signals.Commands)
	r.Signals.Commands = slices.DeleteFunc(r.Signals.Commands, func(c workflow.Command) bool { return c.Kind == workflow.CommandAnswer && c.ID == e.Command })
	q := j.Question
	if q == nil || q.Refuses(e.Answer) != "" {
		return len(r.Signals.Commands) < left
	}
	a := e.Answer
	a.At = m.now
	j.Question, j.Answer = nil, &a
	if allowed := j.Allowed[q.Role]; a.Always && !slices.Contains(allowed, q.Always) && len(allowed) < maxAllowed {
		j.Allowed = maps.Clone(j.Allowed)
		if j.Allowed == nil {
			j.Allowed = map[workflow.Role][]string{}
		}
		j.Allowed[q.Role] = append(slices.Clone(allowed), q.Always)
	}
	m.sayDoing()
	m.say("%s (%s: %s)", r.Progress.Message, a.Says(), q.Line1())
	return true
}
