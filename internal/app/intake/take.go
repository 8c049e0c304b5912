package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/app"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// refusedError is why an order is not obeyed, in words for its author.
type refusedError string

func (e refusedError) Error() string { return string(e) }

// The words for orders that are refused, with what to write instead.
const (
	notAllowed = "Only people with write access to this repository can give orders to Signalbox. This is said once."
	maxReply   = 600
)

// take obeys an order or refuses it, and then records that. A crash in between repeats it, and each step finds what was done: an order to a run is
// written together with its id, a run that was ordered is known by its id, and a reply by its key.
func (i *Intake) take(ctx context.Context, order forge.Order, run *workflow.Run, result *Result) error {
	number := order.On.Number
	if run != nil {
		number = run.Details.Number
	}
	may, err := i.Forge.MayOrder(ctx, order.By)
	if err != nil {
		return err
	}
	e := entry{State: refused}
	if !may { // a stranger could have us write as many comments as they do
		if err := i.Forge.Tell(ctx, order.On, "signalbox/order-permission", notAllowed); err != nil {
			return err
		}
		result.Orders = append(result.Orders, Outcome{order, "no write access"})
		return i.write(ctx, order, number, e)
	}
	if err := i.Forge.Acknowledge(ctx, order); err != nil {
		i.Logger.Warn("order is not acknowledged", "order", order.ID, "err", err)
	}
	e, err = i.obey(ctx, order, run)
	why := refusedError("")
	switch {
	case errors.As(err, &why):
		e.State = refused
		if err := i.Forge.Tell(ctx, order.On, "signalbox/order-"+order.ID, refusal(order, string(why))); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	result.Orders = append(result.Orders, Outcome{order, string(why)})
	return i.write(ctx, order, number, e)
}

// refusal is the answer to an order that was not obeyed.
func refusal(order forge.Order, why string) string {
	what := "The label"
	if order.Remark.ID != 0 {
		what = "`" + strings.TrimSpace("/signalbox "+string(order.Verb)) + "`"
	}
	return redact.Line(order.By, 100) + ": " + what + " was not done. " + redact.Cut(redact.Clean(why), maxReply)
}

// obey returns how far the order is then, or a refusedError.
func (i *Intake) obey(ctx context.Context, order forge.Order, run *workflow.Run) (entry, error) {
	if order.Problem != "" {
		return entry{}, refusedError(capital(order.Problem) + ". There are: `run`, `stop`, `approve [COMMIT]`, `reject TEXT`, `answer TEXT`, `retry`, `resume`, `status`.")
	}
	switch order.Verb {
	case forge.VerbRun:
		return i.begin(ctx, order, run)
	case forge.VerbStatus:
		return entry{State: settled}, i.Forge.Tell(ctx, order.On, "signalbox/order-"+order.ID, status(run))
	}
	if run == nil {
		return entry{}, refusedError("There is no run of it. To begin one, write `/signalbox run` on the issue.")
	}
	return entry{State: settled}, i.give(ctx, order, run)
}

// begin orders a run, or has one that was cut off continued.
func (i *Intake) begin(ctx context.Context, order forge.Order, run *workflow.Run) (entry, error) {
	if order.On.Pull {
		return entry{}, refusedError("It is a pull request. Write it on the issue.")
	}
	request, err := i.Forge.Request(ctx, strconv.Itoa(order.On.Number))
	switch {
	case errors.Is(err, forge.ErrNotFound):
		return entry{}, refusedError("There is no such issue.")
	case err != nil:
		return entry{}, err
	case request.Closed:
		return entry{}, refusedError("The issue is closed.")
	case run == nil:
		return entry{State: ordered}, i.pin(ctx, order, order.On.Number)
	}
	switch run.State {
	case workflow.Canceled:
		return entry{State: ordered, After: run.RunID}, i.pin(ctx, order, order.On.Number)
	case workflow.Done:
		return entry{}, refusedError("Its change is merged.")
	case workflow.Failed:
		return entry{}, refusedError("Its run failed. To try it again, write `/signalbox retry`.")
	case workflow.NeedsInput:
		if run.Interrupted() || run.Error != nil && run.Error.ReasonCode == workflow.PreparedCode {
			return entry{State: settled}, i.give(ctx, order, run)
		}
		return entry{}, refusedError("Its run waits: " + where(run) + ". To continue it, write `/signalbox resume`.")
	}
	return entry{State: settled}, nil // it is under way
}

// give leaves an order for a run, together with the order's id.
func (i *Intake) give(ctx context.Context, order forge.Order, run *workflow.Run) error {
	if slices.Contains(run.Signals.Orders, order.ID) { // and its record was lost
		return nil
	}
	o, err := i.meant(ctx, order, run)
	if err != nil {
		return err
	}
	if err := o.May(run); err != nil {
		return refusedError(capital(words(err)) + ".")
	}
	if o.Renews() && !run.Interrupted() { // one that was cut off goes on with what it saw
		if err := i.pin(ctx, order, run.Details.Number); err != nil {
			return err
		}
	}
	return i.leave(ctx, order, run, func(s *workflow.Signals) { o.Leave(run, s) })
}

// pin has an order count for the text that its author saw.
func (i *Intake) pin(ctx context.Context, order forge.Order, number int) error {
	err := i.Forge.Pin(ctx, order, number)
	if edited := (*forge.EditedError)(nil); errors.As(err, &edited) {
		return refusedError(capital(edited.Error()) + ". Read it again and repeat the order.")
	}
	return err
}

// leave writes to the signals, together with the order's id.
func (i *Intake) leave(ctx context.Context, order forge.Order, run *workflow.Run, change func(*workflow.Signals)) error {
	return i.Store.Signal(ctx, workflow.RefOf(run), func(s *workflow.Signals) error {
		if name(s, order.ID) {
			return nil
		}
		had := len(s.Commands)
		change(s)
		for n := had; n < len(s.Commands); n++ {
			s.Commands[n].ID, s.Commands[n].By = fmt.Sprintf("%s-%d", order.ID, n-had), redact.Line(order.By, 100)
			if a := s.Commands[n].Answer; a != nil {
				a.By = s.Commands[n].By
			}
		}
		return nil
	})
}

// meant is the order as people at the command line give it.
func (i *Intake) meant(ctx context.Context, order forge.Order, run *workflow.Run) (app.Order, error) {
	switch order.Verb {
	case forge.VerbApprove:
		return i.approval(ctx, order, run)
	case forge.VerbReject:
		return app.Reject(order.Text), nil
	case forge.VerbAnswer:
		return i.answer(ctx, order)
	case forge.VerbRetry:
		return app.Retry(), nil
	case forge.VerbStop:
		if !run.UnderWay() {
			return app.Order{}, refusedError("Its run is not under way: " + where(run) + ".")
		}
		return app.Stop(false), nil
	}
	return app.Resume(false), nil
}

// approval is of the commit that it names, or of the one that its author saw: it was offered before, in a comment of ours.
func (i *Intake) approval(ctx context.Context, order forge.Order, run *workflow.Run) (app.Order, error) {
	head := run.Details.Head
	if order.Commit != "" || !app.WaitsForApproval(run) {
		return app.Approve(order.Commit), nil // refuses another commit in words, or that nothing waits
	}
	offered, err := i.Forge.Offered(ctx, order, head)
	if err != nil {
		return app.Order{}, err
	}
	if !offered {
		return app.Order{}, refusedError(fmt.Sprintf("No comment before it shows the commit that waits now, so it is not clear what you saw. Look at the change; to approve it, write `/signalbox approve %.12s`.", head))
	}
	return app.Approve(head), nil
}

// answer answers the question that the run asks now, if its author can have seen it.
func (i *Intake) answer(ctx context.Context, order forge.Order) (app.Order, error) {
	held, err := i.held(ctx)
	if err != nil {
		return app.Order{}, err
	}
	return app.AnswerOrder(func(q *workflow.Question, run *workflow.Run) (workflow.Answer, error) {
		switch {
		case q == nil:
			return workflow.Answer{}, app.Wrong(run, "it asks nothing", "")
		case !held[run.RequestID]:
			return workflow.Answer{}, app.Wrong(run, "it was cut off while it asked; resume it, so that it asks again", "")
		case order.At.Before(q.AskedAt):
			return workflow.Answer{}, app.Wrong(run, "it asked "+q.ID+" after you wrote that", "")
		}
		answer := answerOf(q, order.Text)
		if why := q.Refuses(answer); why != "" {
			return answer, app.Wrong(run, "it asks "+q.ID+", and "+why, "")
		}
		return answer, nil
	}), nil
}

// answerOf reads an answer as the command line does: deny and why, allow, the number of an option, or words.
func answerOf(q *workflow.Question, text string) workflow.Answer {
	answer := workflow.Answer{Question: q.ID, Verdict: workflow.AnswerText, Text: text}
	word, rest, _ := strings.Cut(text, " ")
	number, err := strconv.Atoi(text)
	switch {
	case strings.EqualFold(word, "deny"):
		answer.Verdict, answer.Text = workflow.AnswerDeny, strings.TrimSpace(rest)
	case q.Kind == workflow.PermissionQuestion && strings.EqualFold(text, "allow"):
		answer.Verdict, answer.Text = workflow.AnswerAllow, ""
	case q.Kind == workflow.ChoiceQuestion && err == nil:
		answer.Verdict, answer.Option, answer.Text = workflow.AnswerOption, number, ""
	}
	return answer
}

// where is what a run does, on one line.
func where(run *workflow.Run) string {
	said := run.Progress.Message
	if run.Error != nil {
		said = run.Error.Title
	}
	return redact.Line(said, 200)
}

func status(run *workflow.Run) string {
	if run == nil {
		return "There is no run of it yet. To begin one, write `/signalbox run` on the issue."
	}
	text := fmt.Sprintf("Run %s: %s, %d %%. %s.", run.RunID, run.State.Label(), run.Progress.Percent, capital(where(run)))
	if app.WaitsForApproval(run) {
		text += fmt.Sprintf(" The commit is `%s`; to approve it, write `/signalbox approve %.12s`.", run.Details.Head, run.Details.Head)
	}
	return text
}

// words is an error without the command to type: its reader is on a page.
func words(err error) string {
	var p *problem.Error
	if errors.As(err, &p) && p.Err != nil {
		return p.Err.Error()
	}
	return err.Error()
}

func capital(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// NotRun says on the issue why its run could not be begun or continued, unless trying again may help: then the order stays.
func (i *Intake) NotRun(ctx context.Context, ref string, why error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	var f *forge.Failure
	var held *problem.Error
	if errors.As(why, &f) && (f.Kind == forge.Limited || f.Kind == forge.Unavailable) || errors.As(why, &held) && held.Code == problem.Held || ctx.Err() != nil {
		return nil
	}
	b, err := i.open(ctx)
	if err != nil {
		return err
	}
	for id, e := range b.Orders {
		if e.State != ordered || strconv.Itoa(e.Number) != ref {
			continue
		}
		order := forge.Order{ID: id, Verb: e.Verb, By: e.By, At: e.At, On: forge.OnIssue(e.Number), Remark: forge.Remark{ID: 1}}
		if err := i.Forge.Tell(ctx, order.On, "signalbox/order-"+id, refusal(order, capital(words(why))+".")); err != nil {
			return err
		}
		if err := errors.Join(i.Forge.Unpin(ctx, e.Number), i.write(ctx, order, e.Number, entry{State: refused})); err != nil {
			return err
		}
	}
	return nil
}
