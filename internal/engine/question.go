package engine

import (
	"context"
	"slices"
	"time"

	"signalbox/internal/workflow"
)

// progress is how an action in hand reaches the loop, which alone writes the run. It implements Progress.
type progress struct {
	// acting ends with the action, and so with the loop's attention.
	acting context.Context //nolint:containedctx // it's the life of what is asked, not of one call
	// reports holds the latest.
	reports chan workflow.AgentReported
	found   chan workflow.WorkFound
	// questions are what the action asks, withdrawn those that it wants no answer to any more.
	questions, withdrawn chan *question
}

// question is what an action asks, on its way to the loop, which alone knows who has answered.
type question struct {
	workflow.Question
	rules Rules
	reply chan workflow.Answer
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

// Report implements Progress.
func (p *progress) Report(report workflow.AgentReported) {
	for {
		select {
		case p.reports <- report:
			return
		default:
		}
		select {
		case <-p.reports:
		default:
		}
	}
}

// Found implements Progress.
func (p *progress) Found(ctx context.Context, found workflow.WorkFound) {
	select {
	case p.found <- found:
	case <-ctx.Done():
	}
}

// Ask implements Progress.
func (p *progress) Ask(ctx context.Context, asked workflow.Question, rules Rules) (workflow.Answer, error) {
	q := &question{asked, rules, make(chan workflow.Answer, 1)}
	select {
	case p.questions <- q:
	case <-ctx.Done():
		return workflow.Answer{}, ctx.Err()
	}
	select {
	case answer := <-q.reply:
		return answer, nil
	case <-ctx.Done():
	}
	select {
	case p.withdrawn <- q:
	case <-p.acting.Done():
	}
	return workflow.Answer{}, ctx.Err()
}

// ask has the rules answer a question, or else puts it to people.
func (x *execution) ask(ctx context.Context, latest *workflow.Run, q *question) error {
	if answer, ok := q.rules(latest); ok {
		q.reply <- answer
		return nil
	}
	if err := x.note(ctx, latest, workflow.Asked{Question: q.Question}); err != nil {
		return err
	}
	if asked := latest.Details.Question; asked != nil {
		x.asking = &asking{question: q, id: asked.ID, expires: x.Clock.After(asked.Until.Sub(x.Clock.Now()))}
	}
	return nil // a run that is being stopped asks nobody, and its agent ends
}

// withdraw takes back a question that needs no answer any more.
func (x *execution) withdraw(ctx context.Context, latest *workflow.Run, q *question) error {
	if x.asking == nil || x.asking.question != q {
		return nil
	}
	id := x.asking.id
	x.asking = nil
	return x.note(ctx, latest, workflow.Withdrawn{Question: id})
}

// takeAnswers looks at what others wrote, and takes the answers in it.
func (x *execution) takeAnswers(ctx context.Context, latest *workflow.Run) error {
	if err := x.refresh(ctx, latest); err != nil {
		return err
	}
	for _, c := range slices.Clone(latest.Signals.Commands) {
		if c.Kind != workflow.CommandAnswer {
			continue
		}
		event := workflow.Answered{Command: c.ID}
		if c.Answer != nil {
			event.Answer = *c.Answer
		}
		event.Answer.By = c.By
		if err := x.settle(ctx, latest, event); err != nil {
			return err
		}
	}
	return nil
}

// settle has an answer decided upon and, where it is taken, given to the action.
func (x *execution) settle(ctx context.Context, latest *workflow.Run, event workflow.Answered) error {
	asked := latest.Details.Question
	if err := x.note(ctx, latest, event); err != nil || x.asking == nil || asked == nil || latest.Details.Question != nil {
		return err
	}
	x.asking.reply <- event.Answer
	x.asking = nil
	return nil
}

// nobodyAnswered is the answer that the deadline gives.
func (x *execution) nobodyAnswered() workflow.Answered {
	x.Logger.Warn("nobody answered in time, so the question counts as denied", "run", x.ref.RunID, "question", x.asking.id, "tool", x.asking.Tool)
	return workflow.Answered{Answer: Overdue(x.asking.id)}
}

// Overdue is the answer that its deadline gives to a question.
func Overdue(question string) workflow.Answer {
	return workflow.Answer{Question: question, Verdict: workflow.AnswerDeny, By: workflow.NobodyInTime,
		Text: "Nobody answered in time, so this counts as denied. Go on without it."}
}
