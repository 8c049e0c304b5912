package engine

import (
	"context"
	"slices"
	"time"

	"signalbox/internal/workflow"
)

// progress connects the current action to the loop, which alone writes the run. It implements Progress.
type progress struct {
	// acting ends with the action; the loop listens no longer.
	acting context.Context //nolint:containedctx // it's the life of what is asked, not of one call
	// reports holds the latest.
	reports chan workflow.AgentReported
	found   chan workflow.WorkFound
	// questions are what the action asks; withdrawn no longer need an answer.
	questions, withdrawn chan *question
}

// question is an action's question on its way to the loop.
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

// ask has the rules answer a question, or else asks people.
func (x *execution) ask(ctx context.Context, latest *workflow.Run, q *question) error {
	if answer, ok := q.rules(latest); ok {
		q.reply <- answer
		return nil
	}
	if err := x.note(ctx, latest, workflow.Asked{Question: q.Question}); err != nil {
		return err
	}
	if asked := latest.Details.Question; asked != nil {
		x.asking = asking{question: q, id: asked.ID, expires: x.Clock.After(asked.Until.Sub(x.Clock.Now()))}
	}
	return nil // a run that is being stopped asks no one, and its agent ends
}

// withdraw withdraws a question that no longer needs an answer.
func (x *execution) withdraw(ctx context.Context, latest *workflow.Run, q *question) error {
	if x.asking.question != q {
		return nil
	}
	id := x.asking.id
	x.asking = asking{}
	return x.note(ctx, latest, workflow.Withdrawn{Question: id})
}

// takeAnswers reads what others wrote and takes the answers in it.
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
		if err := x.reply(ctx, latest, event); err != nil {
			return err
		}
	}
	return nil
}

// reply has an answer decided and, if it's accepted, passes it to the action.
func (x *execution) reply(ctx context.Context, latest *workflow.Run, event workflow.Answered) error {
	asked := latest.Details.Question
	if err := x.note(ctx, latest, event); err != nil || x.asking.question == nil || asked == nil || latest.Details.Question != nil {
		return err
	}
	x.asking.reply <- event.Answer
	x.asking = asking{}
	return nil
}

// Overdue returns the answer to a question whose deadline has passed.
func Overdue(question string) workflow.Answer {
	return workflow.Answer{Question: question, Verdict: workflow.AnswerDeny, By: workflow.NobodyInTime,
		Text: "No one answered in time, so this counts as denied. Go on without it."}
}
