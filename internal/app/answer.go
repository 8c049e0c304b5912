package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/session"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Asking is a run, or a session of its request, whose agent waits for an answer.
type Asking struct {
	Question *workflow.Question
	// Run has Question in it, also where a session asks.
	Run workflow.Run
	// Session: a session's agent asks, not the run's.
	Session bool

	app   *App
	found store.RunSummary
	host  *session.Session
}

// Asking finds the question of the run that ref names. only, unless it is empty, is the one question that is meant.
func (p *App) Asking(ctx context.Context, ref, only string) (*Asking, error) {
	found, err := p.Find(ctx, ref)
	if err != nil {
		return nil, err
	}
	a := &Asking{Question: found.Run.Details.Question, Run: found.Run, app: p, found: found}
	if x, asked := p.AskingSession(ctx, &found.Run); asked != nil {
		a.host, a.Session, a.Question, a.Run.Details.Question = x, true, asked, asked
	}
	run := &a.Run
	_, held, err := p.Held(ctx, found.Ref.RequestID)
	switch {
	case err != nil:
		return nil, err
	case a.Question == nil:
		return nil, Wrong(run, "it asks nothing", "signalbox status "+run.Ref())
	case !held:
		return nil, Wrong(run, "it was cut off while it asked, and its agent with it", "let it go on, and ask again if it has to: signalbox resume "+run.Ref())
	case only != "" && only != a.Question.ID:
		return nil, Wrong(run, fmt.Sprintf("it asks %s, not %s", a.Question.ID, only), "signalbox answer "+run.Ref())
	}
	return a, nil
}

// maxAnswer bounds an answer in words, in runes.
const maxAnswer = 4000

// Give leaves the answer for the process that carries the run or hosts the session, waits until it has taken it, and returns the
// answer as it stands: another person may have been before this one, which is an error. Of a run that goes on it is the run as it is then.
func (a *Asking) Give(ctx context.Context, answer workflow.Answer) (workflow.Answer, workflow.Run, error) {
	answer.Question = a.Question.ID
	why := a.Question.Refuses(answer)
	if why == "" && utf8.RuneCountInString(answer.Text) > maxAnswer {
		why = fmt.Sprintf("an answer has at most %d characters", maxAnswer)
	}
	if why != "" {
		return answer, a.Run, &problem.Error{Err: fmt.Errorf("question %s of run %s: %s", a.Question.ID, a.Run.Ref(), why), Hint: "look at it: signalbox answer " + a.Run.Ref(), Code: problem.Usage}
	}
	order := Personal(workflow.CommandAnswer, "", "")
	answer.By, answer.At = order.By, order.At
	order.Answer = &answer
	if a.Session {
		return answer, a.Run, a.giveSession(ctx, answer)
	}
	err := a.app.Signal(ctx, a.found, func(_ *workflow.Run, s *workflow.Signals) { s.Commands = append(s.Commands, order) })
	if err != nil {
		return answer, a.Run, wire.Explained(err)
	}
	run, err := a.taken(ctx, order.ID)
	if err != nil {
		return answer, run, err
	}
	stands := run.Details.Answer
	switch {
	case stands == nil || stands.Question != answer.Question:
		return answer, run, Wrong(&run, fmt.Sprintf("the agent wants no answer to %s any more", answer.Question), "signalbox status "+run.Ref())
	case stands.Verdict != answer.Verdict || stands.Option != answer.Option || stands.Text != answer.Text || stands.By != answer.By:
		return answer, run, Wrong(&run, fmt.Sprintf("%s was answered before: %s by %s", answer.Question, AnsweredWord(stands), redact.Line(stands.By, 100)), "signalbox status "+run.Ref())
	}
	return *stands, run, nil
}

func (a *Asking) giveSession(ctx context.Context, answer workflow.Answer) error {
	said, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("answer %s: %w", answer.Question, err)
	}
	err = a.host.Answer(ctx, answer.Question, said)
	if errors.Is(err, session.ErrNotAsked) || errors.Is(err, session.ErrNotRunning) {
		return &problem.Error{Err: fmt.Errorf("answer %s: the agent wants no answer to it any more", answer.Question),
			Hint: fmt.Sprintf("see what it does: signalbox session watch %d", a.Run.Details.Number)}
	}
	return wire.Explained(err)
}

// taken waits until the process that carries the run has taken the order, and returns the run then.
func (a *Asking) taken(ctx context.Context, order string) (workflow.Run, error) {
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := a.app.Store.Watch(watch, store.RunDir(a.found.Ref)+"/stage.json")
	if err != nil {
		return workflow.Run{}, wire.Explained(err)
	}
	for {
		run, err := a.app.Store.Stage(a.found.Ref).Load(ctx)
		if err != nil {
			return run, wire.Explained(err)
		}
		if !slices.ContainsFunc(run.Signals.Commands, func(c workflow.Command) bool { return c.ID == order }) {
			return run, nil
		}
		if _, held, err := a.app.Held(ctx, a.found.Ref.RequestID); err != nil || !held {
			if err == nil {
				err = Wrong(&run, "the process that carried it ended before it took the answer", "let it go on, and ask again if it has to: signalbox resume "+run.Ref())
			}
			return run, err
		}
		select {
		case <-changes:
		case <-time.After(HolderPoll):
		case <-ctx.Done():
			return run, fmt.Errorf("the answer is left for the process that carries the run: %w", ctx.Err())
		}
	}
}

// AnsweredWord is what was done to a question.
func AnsweredWord(a *workflow.Answer) string {
	switch a.Verdict {
	case workflow.AnswerAllow:
		return "allowed"
	case workflow.AnswerDeny:
		return "denied"
	case workflow.AnswerOption:
		return fmt.Sprintf("option %d chosen", a.Option)
	}
	return "answered"
}
