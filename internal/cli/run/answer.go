package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// answerFlags are what a person says by flags.
type answerFlags struct {
	allow, deny, always bool
	option              int
	question            string
}

func newAnswer(a *command.Invocation) *cobra.Command {
	var f answerFlags
	c := &cobra.Command{
		Use:  "answer RUN [TEXT]",
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
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	asking, err := p.Asking(ctx, ref, f.question)
	if err != nil {
		return err
	}
	answer, given := f.answer(text)
	if !given {
		if answer, given, err = ask(ctx, a, asking); err != nil || !given {
			return err
		}
	}
	answer, run, err := asking.Give(ctx, answer)
	switch {
	case err != nil:
		return err
	case a.JSON && asking.Session:
		return a.PrintJSON(answer)
	case a.JSON:
		return a.PrintJSON(run)
	}
	follow := "watch " + run.Ref()
	if asking.Session {
		follow = fmt.Sprintf("session watch %d", run.Details.Number)
	}
	a.Print("%s: %s; the agent goes on; follow it: signalbox %s\n", answer.Question, app.AnsweredWord(&answer), follow)
	return nil
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
