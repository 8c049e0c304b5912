package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// ask shows the question and, where a person sits at a terminal, asks for the answer.
func (w *answering) ask(ctx context.Context) (answer workflow.Answer, given bool, err error) {
	if w.JSON {
		return answer, false, w.PrintJSON(w.asked)
	}
	display.PrintQuestion(w.Project.Invocation, &w.found.Run)
	if !w.Terminal {
		return answer, false, nil
	}
	lines := bufio.NewReader(io.LimitReader(w.In, 1<<20))
	for !given {
		w.Print("%s ", w.Paint(command.Bold, prompts[w.asked.Kind]))
		line, err := command.ReadLine(ctx, lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return answer, false, fmt.Errorf("read the answer: %w", err)
		}
		answer, given = typedAnswer(w.asked, strings.TrimSpace(line))
		if err != nil {
			break
		}
		if !given {
			w.Print("that is no answer\n")
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
