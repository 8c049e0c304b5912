package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/session"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Asking is a run whose agent waits for an answer, or a session of its request whose agent does.
type Asking struct {
	Question *workflow.Question
	// Run includes Question, even if a session asks it.
	Run workflow.Run
	// Session: the session's agent asks, not the run's.
	Session bool

	app   *App
	found store.RunSummary
	host  *session.Session
}

// Asking finds the question of the run that ref names. If only is set, it must be that question.
func (p *App) Asking(ctx context.Context, ref, only string) (*Asking, error) {
	found, err := p.Find(ctx, ref)
	if err != nil {
		return nil, err
	}
	a := &Asking{Question: found.Run.Details.Question, Run: found.Run, app: p, found: found}
	x, info := p.SessionOf(ctx, &found.Run)
	if asked := AskedBy(info); asked != nil {
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
		return nil, Wrong(run, "it was cut off while it asked, and its agent with it", "resume it, so that it asks again if it has to: "+commandline.For(run, workflow.VerbResume))
	case only != "" && only != a.Question.ID:
		return nil, Wrong(run, fmt.Sprintf("it asks %s, not %s", a.Question.ID, only), "signalbox answer "+run.Ref())
	}
	return a, nil
}

// maxAnswer bounds an answer in words, in runes.
const maxAnswer = 4000

// Give leaves the answer for the process that runs the run or hosts the session, and waits until that has taken it. through names the
// program that passes it on, if one does. Give returns the answer that counts and the run as it is then. It is an error if someone else
// answered first.
func (a *Asking) Give(ctx context.Context, answer workflow.Answer, through string) (workflow.Answer, workflow.Run, error) {
	answer.Question = a.Question.ID
	why := a.Question.Refuses(answer)
	if why == "" && utf8.RuneCountInString(answer.Text) > maxAnswer {
		why = fmt.Sprintf("an answer has at most %d characters", maxAnswer)
	}
	if why != "" {
		return answer, a.Run, &problem.Error{Err: fmt.Errorf("question %s of run %s: %s", a.Question.ID, a.Run.Ref(), why), Hint: "look at it: signalbox answer " + a.Run.Ref(), Code: problem.Usage}
	}
	order := Personal(workflow.CommandAnswer, "", "")
	if through != "" {
		order.By += " through " + through
	}
	answer.By, answer.At = order.By, order.At
	order.Answer = &answer
	if a.Session {
		said, err := json.Marshal(answer)
		if err != nil {
			return answer, a.Run, fmt.Errorf("answer %s: %w", answer.Question, err)
		}
		err = a.host.Answer(ctx, answer.Question, said)
		if errors.Is(err, session.ErrNotAsked) || errors.Is(err, session.ErrNotRunning) {
			err = &problem.Error{Err: fmt.Errorf("answer %s: the agent no longer waits for one", answer.Question),
				Hint: fmt.Sprintf("see what it does: signalbox session watch %d", a.Run.Details.Number)}
		}
		return answer, a.Run, wire.Explained(err)
	}
	err := a.app.Signal(ctx, a.found, func(_ *workflow.Run, s *workflow.Signals) { s.Commands = append(s.Commands, order) })
	if err != nil {
		return answer, a.Run, wire.Explained(err)
	}
	run, err := a.taken(ctx, order.ID)
	if err != nil {
		return answer, run, err
	}
	first := run.Details.Answer
	switch {
	case first == nil || first.Question != answer.Question:
		return answer, run, Wrong(&run, fmt.Sprintf("the agent no longer waits for an answer to %s", answer.Question), "signalbox status "+run.Ref())
	case first.Verdict != answer.Verdict || first.Option != answer.Option || first.Text != answer.Text || first.By != answer.By:
		return answer, run, Wrong(&run, fmt.Sprintf("%s was answered before: %s by %s", answer.Question, AnsweredWord(first), redact.Line(first.By, 100)), "signalbox status "+run.Ref())
	}
	return *first, run, nil
}

// taken waits until the process that runs the run has taken the order, and returns the run as it is then.
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
				err = Wrong(&run, "the process that carried it ended before it took the answer", "resume it, so that it asks again if it has to: "+commandline.For(&run, workflow.VerbResume))
			}
			return run, err
		}
		select {
		case <-changes:
		case <-time.After(HolderPoll):
		case <-ctx.Done():
			return run, fmt.Errorf("the process that runs the run gets the answer: %w", ctx.Err())
		}
	}
}

// AnsweredWord says how a question was answered.
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

// TypedAnswer reads what a person typed; given is false if it's no answer.
func TypedAnswer(q *workflow.Question, line string) (answer workflow.Answer, given bool) {
	word, rest, _ := strings.Cut(line, " ")
	number, err := strconv.Atoi(line)
	switch {
	case word == "deny":
		answer = workflow.Answer{Verdict: workflow.AnswerDeny, Text: redact.Clean(strings.TrimSpace(rest))}
	case q.Kind == workflow.PermissionQuestion && (line == "allow" || line == "always"):
		answer = workflow.Answer{Verdict: workflow.AnswerAllow, Always: line == "always"}
	case q.Kind == workflow.PermissionQuestion || line == "":
		return answer, false
	case q.Kind == workflow.ChoiceQuestion && err == nil:
		answer = workflow.Answer{Verdict: workflow.AnswerOption, Option: number}
	default:
		answer = workflow.Answer{Verdict: workflow.AnswerText, Text: redact.Clean(line)}
	}
	answer.Question = q.ID
	return answer, q.Refuses(answer) == ""
}

// AnswerOrder answers the question that a run asks, as the caller reads the answer for it.
func AnswerOrder(answer func(*workflow.Question, *workflow.Run) (workflow.Answer, error)) Order {
	return Order{may: func(r *workflow.Run) error {
		_, err := answer(r.Details.Question, r)
		return err
	}, leave: func(r *workflow.Run, s *workflow.Signals) {
		order := Personal(workflow.CommandAnswer, "", "")
		if a, err := answer(r.Details.Question, r); err == nil {
			a.By, a.At = order.By, order.At
			order.Answer = &a
			s.Commands = append(s.Commands, order)
		}
	}}
}
