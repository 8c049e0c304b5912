package run

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/session"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// answering is one invocation of "signalbox answer".
type answering struct {
	*command.Project
	found store.RunSummary
	asked *workflow.Question
	// session is whose agent asks; nil where it is the run's.
	session *session.Session
}

// answerFlags are what a person says by flags.
type answerFlags struct {
	allow, deny, always bool
	option              int
	question            string
}

func newAnswer(a *command.Invocation) *cobra.Command {
	var f answerFlags
	c := &cobra.Command{
		Use:   "answer RUN [TEXT]",
		Short: "Answer the question of an agent in a run or session",
		Long: "Answer the question that \"signalbox status\" shows. An agent asks for permission (--allow or --deny, with TEXT as\n" +
			"the reason, which it is told), lets you choose (--option, or TEXT), or wants TEXT. Without an answer the question is\n" +
			"shown and, on a terminal, you are asked for one.\n\n" +
			"--always allows exactly the same without being asked, for the same role, until the run or the session ends. Patterns\n" +
			"for all of them belong into the configuration (docs/agents.md).",
		Example: "  signalbox answer 42\n  signalbox answer 42 --allow\n  signalbox answer 42 --deny \"use the vendored copy\"\n" +
			"  signalbox answer 42 --option 2\n  signalbox answer 42 --json | jq -r .text",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("option") && f.option < 1 {
				return &problem.Error{Err: fmt.Errorf("--option is %d", f.option), Hint: "options are counted from 1", Code: problem.Usage}
			}
			return answer(c.Context(), a, args[0], slices.Concat(args[1:], []string{""})[0], f)
		},
	}
	c.Flags().BoolVar(&f.allow, "allow", false, "allow it this time")
	c.Flags().BoolVar(&f.always, "always", false, "allow it now and for the rest of the run")
	c.Flags().BoolVar(&f.deny, "deny", false, "deny it; the agent goes on without")
	c.Flags().IntVar(&f.option, "option", 0, "choose this option, from 1")
	c.Flags().StringVar(&f.question, "question", "", "refuse unless this question is asked, such as Q3")
	c.MarkFlagsMutuallyExclusive("allow", "deny", "option")
	c.MarkFlagsMutuallyExclusive("always", "deny", "option")
	return c
}

func answer(ctx context.Context, a *command.Invocation, ref, text string, f answerFlags) error {
	p, found, err := a.OpenRun(ctx, ref)
	if err != nil {
		return err
	}
	run := &found.Run
	w := &answering{Project: p, found: found, asked: run.Details.Question}
	if x, asked := p.AskingSession(ctx, run); asked != nil {
		w.session, w.asked, w.found.Run.Details.Question = x, asked, asked
	}
	_, held, err := p.Held(ctx, found.Ref.RequestID)
	switch {
	case err != nil:
		return err
	case w.asked == nil:
		return app.Wrong(run, "it asks nothing", "signalbox status "+run.Ref())
	case !held:
		return app.Wrong(run, "it was cut off while it asked, and its agent with it", "let it go on, and ask again if it has to: signalbox resume "+run.Ref())
	case f.question != "" && f.question != w.asked.ID:
		return app.Wrong(run, fmt.Sprintf("it asks %s, not %s", w.asked.ID, f.question), "signalbox answer "+run.Ref())
	}
	answer, given := f.answer(text)
	if !given {
		if answer, given, err = w.ask(ctx); err != nil || !given {
			return err
		}
	}
	answer.Question = w.asked.ID
	return w.give(ctx, answer)
}

// answer is what the flags and the words say; given is false where they say nothing.
func (f answerFlags) answer(text string) (answer workflow.Answer, given bool) {
	answer = workflow.Answer{Text: redact.Clean(text), Option: f.option, Always: f.always}
	switch {
	case f.allow || f.always:
		answer.Verdict = workflow.AnswerAllow
	case f.deny:
		answer.Verdict = workflow.AnswerDeny
	case f.option != 0:
		answer.Verdict = workflow.AnswerOption
	case text != "":
		answer.Verdict = workflow.AnswerText
	}
	return answer, answer.Verdict != ""
}

// maxAnswer bounds an answer in words, in runes.
const maxAnswer = 4000

// give leaves the answer for the process that carries the run, and waits until it has taken it.
func (w *answering) give(ctx context.Context, answer workflow.Answer) error {
	why := w.asked.Refuses(answer)
	if why == "" && utf8.RuneCountInString(answer.Text) > maxAnswer {
		why = fmt.Sprintf("an answer has at most %d characters", maxAnswer)
	}
	if why != "" {
		return &problem.Error{Err: fmt.Errorf("question %s of run %s: %s", w.asked.ID, w.found.Run.Ref(), why), Hint: "look at it: signalbox answer " + w.found.Run.Ref(), Code: problem.Usage}
	}
	if w.session != nil {
		return w.giveSession(ctx, answer)
	}
	order := app.Personal(workflow.CommandAnswer, "", "")
	answer.By, answer.At = order.By, order.At
	order.Answer = &answer
	err := w.Signal(ctx, w.found, func(_ *workflow.Run, s *workflow.Signals) { s.Commands = append(s.Commands, order) })
	if err != nil {
		return wire.Explained(err)
	}
	run, err := w.taken(ctx, order.ID)
	if err != nil {
		return err
	}
	return w.said(&run, answer)
}

// taken waits until the process that carries the run has taken the order, and returns the run then.
func (w *answering) taken(ctx context.Context, order string) (workflow.Run, error) {
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := w.Store.Watch(watch, store.RunDir(w.found.Ref)+"/stage.json")
	if err != nil {
		return workflow.Run{}, wire.Explained(err)
	}
	for {
		run, err := w.Store.Stage(w.found.Ref).Load(ctx)
		if err != nil {
			return run, wire.Explained(err)
		}
		if !slices.ContainsFunc(run.Signals.Commands, func(c workflow.Command) bool { return c.ID == order }) {
			return run, nil
		}
		if _, held, err := w.Held(ctx, w.found.Ref.RequestID); err != nil || !held {
			if err == nil {
				err = app.Wrong(&run, "the process that carried it ended before it took the answer", "let it go on, and ask again if it has to: signalbox resume "+run.Ref())
			}
			return run, err
		}
		select {
		case <-changes:
		case <-time.After(app.HolderPoll):
		case <-ctx.Done():
			return run, fmt.Errorf("the answer is left for the process that carries the run: %w", ctx.Err())
		}
	}
}

// verdictWord is what was done to the question.
func verdictWord(a *workflow.Answer) string {
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

// said tells what became of the answer: another may have been before it.
func (w *answering) said(run *workflow.Run, answer workflow.Answer) error {
	a := run.Details.Answer
	switch {
	case a == nil || a.Question != answer.Question:
		return app.Wrong(run, fmt.Sprintf("the agent wants no answer to %s any more", answer.Question), "signalbox status "+run.Ref())
	case a.Verdict != answer.Verdict || a.Option != answer.Option || a.Text != answer.Text || a.By != answer.By:
		return app.Wrong(run, fmt.Sprintf("%s was answered before: %s by %s", answer.Question, verdictWord(a), redact.Line(a.By, 100)), "signalbox status "+run.Ref())
	case w.JSON:
		return w.PrintJSON(run)
	}
	w.Print("%s: %s; the agent goes on; follow it: signalbox watch %s\n", a.Question, verdictWord(a), run.Ref())
	return nil
}
