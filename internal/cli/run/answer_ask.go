package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// ask shows the question and, where a person sits at a terminal, asks for the answer.
func ask(ctx context.Context, a *command.Invocation, asking *app.Asking) (answer workflow.Answer, given bool, err error) {
	if a.JSON {
		return answer, false, a.PrintJSON(asking.Question)
	}
	display.PrintQuestion(a, &asking.Run)
	if !a.Terminal {
		return answer, false, nil
	}
	lines := bufio.NewReader(io.LimitReader(a.In, 1<<20))
	for !given {
		a.Print("%s ", a.Paint(command.Bold, prompts[asking.Question.Kind]))
		line, err := command.ReadLine(ctx, lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return answer, false, fmt.Errorf("read the answer: %w", err)
		}
		answer, given = typedAnswer(asking.Question, strings.TrimSpace(line))
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

// typedAnswer is what a person typed; given is false where it is no answer.
func typedAnswer(q *workflow.Question, line string) (answer workflow.Answer, given bool) {
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
