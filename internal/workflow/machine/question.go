package machine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// maxAllowed is how many patterns people may add to a run for one role.
const maxAllowed = 200

// questionAsked shows people a question of the agent that works.
func (m *machine) questionAsked(e workflow.Asked) bool {
	j := &m.run.Details
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

// questionAnswered takes an answer to the present question, and to no other.
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
	said := map[workflow.AnswerVerdict]string{workflow.AnswerAllow: "allowed", workflow.AnswerDeny: "denied",
		workflow.AnswerOption: fmt.Sprintf("option %d chosen", a.Option), workflow.AnswerText: "answered"}[a.Verdict]
	if a.Always {
		said = "allowed for the rest of the run"
	}
	m.sayDoing()
	m.say("%s (%s by %s: %s)", r.Progress.Message, said, wording.Printable(a.By), q.Line1())
	return true
}
