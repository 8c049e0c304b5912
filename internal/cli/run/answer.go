package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

func newAnswer(a *command.Invocation) *cobra.Command {
	var allow, deny bool
	var answer workflow.Answer
	c := &cobra.Command{
		Use: "answer RUN [TEXT]", Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("option") && answer.Option < 1 {
				return command.UsageError("options are counted from 1", "--option is %d", answer.Option)
			}
			answer.Text = redact.Clean(strings.Join(args[1:], ""))
			switch {
			case allow || answer.Always:
				answer.Verdict = workflow.AnswerAllow
			case deny:
				answer.Verdict = workflow.AnswerDeny
			case answer.Option != 0:
				answer.Verdict = workflow.AnswerOption
			case answer.Text != "":
				answer.Verdict = workflow.AnswerText
			}
			return giveAnswer(c.Context(), a, args[0], answer)
		},
	}
	c.Flags().BoolVar(&allow, "allow", false, "allow it this time")
	c.Flags().BoolVar(&answer.Always, "always", false, "allow it now and for the rest of the run")
	c.Flags().BoolVar(&deny, "deny", false, "deny it; the agent continues without it")
	c.Flags().IntVar(&answer.Option, "option", 0, "choose this option, from 1")
	c.Flags().StringVar(&answer.Question, "question", "", "refuse unless this question is asked, such as Q3")
	c.MarkFlagsMutuallyExclusive("allow", "deny", "option")
	c.MarkFlagsMutuallyExclusive("always", "deny", "option")
	return c
}

// giveAnswer gives an answer to the question that it names, or to any; one without a verdict is asked for.
func giveAnswer(ctx context.Context, a *command.Invocation, ref string, answer workflow.Answer) error {
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	asking, err := p.Asking(ctx, ref, answer.Question)
	if err != nil {
		return err
	}
	if answer.Verdict == "" {
		given := false
		if answer, given, err = ask(ctx, a, asking); err != nil || !given {
			return err
		}
	}
	answer, run, err := asking.Give(ctx, answer, "")
	switch {
	case err != nil:
		return err
	case a.JSON && asking.Session:
		return a.PrintJSON(answer)
	}
	return a.Show(run, func() {
		follow := "watch " + run.Ref()
		if asking.Session {
			follow = fmt.Sprintf("session watch %d", run.Details.Number)
		}
		a.Print("%s: %s; the agent continues; follow it: signalbox %s\n", answer.Question, app.AnsweredWord(&answer), follow)
	})
}

// ask shows the question and, at a terminal, asks for the answer.
func ask(ctx context.Context, a *command.Invocation, asking *app.Asking) (answer workflow.Answer, given bool, err error) {
	if a.JSON {
		return answer, false, a.PrintJSON(asking.Question)
	}
	display.PrintQuestion(a, &asking.Run)
	if !a.Terminal {
		return answer, false, nil
	}
	for !given {
		a.Print("%s ", a.Paint(command.Bold, prompts[asking.Question.Kind]))
		line, err := a.ReadLine(ctx)
		if err != nil && !errors.Is(err, io.EOF) {
			return answer, false, err
		}
		answer, given = app.TypedAnswer(asking.Question, line)
		if err != nil {
			break
		}
		if !given {
			a.Print("that is no answer\n")
		}
	}
	return answer, given, nil
}

var prompts = map[workflow.QuestionKind]string{
	workflow.PermissionQuestion: "allow, always, or deny [why]?",
	workflow.ChoiceQuestion:     "a number, your own words, or deny [why]?",
	workflow.TextQuestion:       "your answer, or deny [why]?",
}
