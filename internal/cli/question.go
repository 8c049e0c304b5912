package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// printQuestion shows what an agent asks, and what to type.
func (a *invocation) printQuestion(r *workflow.Run) {
	q := r.Details.Question
	a.print("\n%s the %s %s (%s); at %s it counts as denied, %s from now\n", a.paint(yellow, "It asks:"), q.Role, asksFor[q.Kind], q.ID,
		commandline.When(q.Until), max(0, q.Until.Sub(now())).Round(time.Second))
	text := redact.Clean(q.Text)
	if q.Tool != "" {
		text = redact.Line(q.Tool, 100) + ": " + text
	}
	for line := range strings.Lines(firstLines(text, 40)) {
		a.print("  %s\n", strings.TrimRight(line, "\n"))
	}
	for i, option := range q.Options {
		a.print("  %d. %s\n", i+1, redact.Line(option, 300))
	}
	if q.Altered {
		a.print("  %s\n", a.paint(yellow, "not all of it is shown: it is longer, or holds what must not be"))
	}
	a.print("%s\n", a.paint(bold, "What to do:"))
	for _, action := range answers(r) {
		a.print("  %s\n", action)
	}
}

var asksFor = map[workflow.QuestionKind]string{workflow.PermissionQuestion: "wants to use a tool", workflow.ChoiceQuestion: "lets you choose",
	workflow.TextQuestion: "wants to know"}

// answers are the commands that answer a run's question.
func answers(r *workflow.Run) (commands []string) {
	say := "signalbox answer " + r.Ref()
	q := r.Details.Question
	switch q.Kind {
	case workflow.ChoiceQuestion:
		commands = []string{say + " --option 1", say + ` "something else"`}
	case workflow.TextQuestion:
		commands = []string{say + ` "your answer"`}
	default:
		commands = []string{say + " --allow"}
		if q.Always != "" {
			commands = append(commands, say+" --always   (allows "+redact.Line(q.Always, 200)+" until the run ends)")
		}
	}
	return append(commands, say+` --deny "why"`)
}

// ask shows the question and, where a person sits at a terminal, asks for the answer.
func (w *answering) ask(ctx context.Context) (answer workflow.Answer, given bool, err error) {
	if w.json {
		return answer, false, w.printJSON(w.asked)
	}
	w.printQuestion(&w.found.Run)
	if !w.Terminal {
		return answer, false, nil
	}
	lines := bufio.NewReader(io.LimitReader(w.In, 1<<20))
	for !given {
		w.print("%s ", w.paint(bold, prompts[w.asked.Kind]))
		line, err := readLine(ctx, lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return answer, false, fmt.Errorf("read the answer: %w", err)
		}
		answer, given = typedAnswer(w.asked, strings.TrimSpace(line))
		if err != nil {
			break
		}
		if !given {
			w.print("that is no answer\n")
		}
	}
	return answer, given, nil
}

// readLine reads a line, unless ctx ends first: then whoever reads is left behind, as nobody can call it back.
func readLine(ctx context.Context, lines *bufio.Reader) (string, error) {
	var line string
	read := make(chan error, 1)
	go func() {
		var err error
		line, err = lines.ReadString('\n')
		read <- err
	}()
	select {
	case err := <-read:
		return line, err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
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
