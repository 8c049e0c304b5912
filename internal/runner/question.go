package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/permission"
	"signalbox/internal/workflow"
)

// question is what an agent asks, on its way to the loop, which alone knows who has answered.
type question struct {
	agent.Question
	key   string
	role  workflow.Role
	reply chan<- reply
}

// reply is an answer, and whose it is, for the transcript.
type reply struct {
	agent.Answer
	by string
}

// says is the reply for the transcript.
func (r reply) says(q *question) string {
	what := r.Text
	if r.Verdict == agent.Chosen && r.Option < len(q.Options) {
		what = q.Options[r.Option]
	}
	return strings.TrimSuffix(fmt.Sprintf("%s, by %s: %s", r.Verdict, r.by, what), ": ")
}

// asking is a question that people see, and its deadline.
type asking struct {
	*question
	id      string
	expires <-chan time.Time
}

// overdue is the deadline; nil where nothing is asked.
func (a *asking) overdue() <-chan time.Time {
	if a == nil {
		return nil
	}
	return a.expires
}

// asker passes what the call's agent asks on to the loop, which listens as long as calling lasts.
func (c *call) asker(calling context.Context, role workflow.Role) agent.Asker {
	return func(ctx context.Context, asked agent.Question) (agent.Answer, error) {
		replies := make(chan reply, 1)
		q := &question{asked, c.key, role, replies}
		select {
		case c.questions <- q:
		case <-ctx.Done():
			return agent.Answer{}, ctx.Err()
		}
		select {
		case r := <-replies:
			c.heard(agent.Entry{Kind: agent.QuestionAnswered, Tool: q.Tool, Text: r.says(q), Failed: r.Verdict == agent.Denied})
			return r.Answer, nil
		case <-ctx.Done():
		}
		select {
		case c.withdrawn <- q:
		case <-calling.Done():
		}
		return agent.Answer{}, ctx.Err()
	}
}

// ask has the rules answer a question, or else puts it to people.
func (w *work) ask(ctx context.Context, latest *workflow.Run, q *question) error {
	if r, ok := w.ruled(latest, q); ok {
		q.reply <- r
		return nil
	}
	documented := DocumentedQuestion(q.Question, w.Redact.String)
	documented.Key = q.key
	if err := w.note(ctx, latest, workflow.Asked{Question: documented}); err != nil {
		return err
	}
	if asked := latest.Journey.Question; asked != nil {
		w.asking = &asking{question: q, id: asked.ID, expires: w.Clock.After(asked.Until.Sub(w.Clock.Now()))}
	}
	return nil // a run that is being stopped asks nobody, and its agent ends
}

// ruled is what the configuration, or a person for the rest of the run, has answered before.
func (w *work) ruled(latest *workflow.Run, q *question) (reply, bool) {
	rules := w.Rules[q.role]
	rules.Allow = slices.Concat(rules.Allow, latest.Journey.Allowed[q.role])
	answer, by, ok := Ruled(rules, q.Question)
	return reply{answer, by}, ok
}

// Ruled is what rules answer to a question, and which of them; ok is false where a person is to be asked.
func Ruled(rules permission.Rules, q agent.Question) (answer agent.Answer, by string, ok bool) {
	verdict, pattern := rules.Verdict(use(q))
	switch {
	case q.Kind != agent.Permission || verdict == permission.Ask:
		return agent.Answer{}, "", false
	case verdict == permission.Allow:
		return agent.Answer{Verdict: agent.Allowed}, "the rule " + pattern, true
	}
	return agent.Answer{Verdict: agent.Denied, Text: "The project's rules deny this. Go on without it."}, "the rule " + pattern, true
}

func use(q agent.Question) permission.Use {
	return permission.Use{Tool: q.Tool, Subject: q.Subject, Altered: q.Altered}
}

// DocumentedQuestion is a question without secrets, in the words of documents. What a person cannot
// see whole they cannot allow for ever.
func DocumentedQuestion(q agent.Question, redact func(string) string) workflow.Question {
	d := workflow.Question{Kind: workflow.QuestionKind(q.Kind), Tool: redact(q.Tool), Subject: redact(q.Subject), Text: redact(q.Text)}
	for _, option := range q.Options {
		d.Options = append(d.Options, redact(option))
	}
	d.Altered = q.Altered || d.Subject != q.Subject || d.Text != q.Text || d.Tool != q.Tool
	if always, err := permission.Exactly(use(q)); err == nil && !d.Altered && q.Kind == agent.Permission {
		d.Always = always
	}
	return d
}

// withdraw takes back a question that nobody needs to answer any more.
func (w *work) withdraw(ctx context.Context, latest *workflow.Run, q *question) error {
	if w.asking == nil || w.asking.question != q {
		return nil
	}
	id := w.asking.id
	w.asking = nil
	return w.note(ctx, latest, workflow.Withdrawn{Question: id})
}

// takeAnswers looks at what others wrote, and takes the answers in it.
func (w *work) takeAnswers(ctx context.Context, latest *workflow.Run) error {
	if err := w.refresh(ctx, latest); err != nil {
		return err
	}
	for _, c := range slices.Clone(latest.Signals.Commands) {
		if c.Kind != workflow.CommandAnswer {
			continue
		}
		if err := w.settle(ctx, latest, answered(c)); err != nil {
			return err
		}
	}
	return nil
}

// settle has an answer decided upon and, where it is taken, told to the agent.
func (w *work) settle(ctx context.Context, latest *workflow.Run, event workflow.Answered) error {
	asked := latest.Journey.Question
	if err := w.note(ctx, latest, event); err != nil || w.asking == nil || asked == nil || latest.Journey.Question != nil {
		return err
	}
	w.asking.reply <- reply{Told(event.Answer), event.Answer.By}
	w.asking = nil
	return nil
}

// nobodyAnswered is the answer that the deadline gives.
func (w *work) nobodyAnswered() workflow.Answered {
	w.Logger.Warn("nobody answered in time, so the question counts as denied", "run", w.ref.RunID, "question", w.asking.id, "tool", w.asking.Tool)
	return workflow.Answered{Answer: Overdue(w.asking.id)}
}

// Overdue is the answer that its deadline gives to a question.
func Overdue(question string) workflow.Answer {
	return workflow.Answer{Question: question, Verdict: workflow.AnswerDeny, By: workflow.NobodyInTime,
		Text: "Nobody answered in time, so this counts as denied. Go on without it."}
}

// answered is a command as an event.
func answered(c workflow.Command) workflow.Answered {
	event := workflow.Answered{Command: c.ID}
	if c.Answer != nil {
		event.Answer = *c.Answer
	}
	event.Answer.By = c.By
	return event
}

// Told is an answer in the words of agents.
func Told(a workflow.Answer) agent.Answer {
	r := agent.Answer{Verdict: agent.Verdict(a.Verdict), Option: a.Option - 1, Text: a.Text}
	if a.Verdict == workflow.AnswerDeny && a.Text == "" {
		r.Text = "A person denied this. Go on without it."
	}
	return r
}
