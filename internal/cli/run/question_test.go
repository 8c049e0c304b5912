package run

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/workflow"
)

// asked is a run whose agent waits.
func asked(q workflow.Question) (*command.Invocation, *app.Asking) {
	q.ID, q.Role, q.Until = "Q1", workflow.Implementer, time.Now().Add(time.Hour)
	return &command.Invocation{}, &app.Asking{Question: &q, Run: workflow.Run{Details: workflow.Details{Number: 42, Question: &q}}}
}

func TestATerminalAsksUntilThereIsAnAnswer(t *testing.T) {
	t.Parallel()
	may := workflow.Question{Kind: workflow.PermissionQuestion, Tool: "Bash", Text: "go vet", Always: "Bash(go vet)"}
	choice := workflow.Question{Kind: workflow.ChoiceQuestion, Text: "Which?", Options: []string{"Red", "Blue"}}
	words := workflow.Question{Kind: workflow.TextQuestion, Text: "Why?"}
	for _, test := range []struct {
		q     workflow.Question
		types string
		want  workflow.Answer
		given bool
	}{
		{may, "allow\n", workflow.Answer{Verdict: workflow.AnswerAllow}, true},
		{may, "always\n", workflow.Answer{Verdict: workflow.AnswerAllow, Always: true}, true},
		{may, "yes\n\n1\ndeny not here\n", workflow.Answer{Verdict: workflow.AnswerDeny, Text: "not here"}, true},
		{may, "what?\n", workflow.Answer{}, false},
		{may, "", workflow.Answer{}, false},
		{choice, "3\n2\n", workflow.Answer{Verdict: workflow.AnswerOption, Option: 2}, true},
		{choice, "Green\n", workflow.Answer{Verdict: workflow.AnswerText, Text: "Green"}, true},
		{choice, "deny\n", workflow.Answer{Verdict: workflow.AnswerDeny}, true},
		{words, "\nBecause \x1b[31mof it\n", workflow.Answer{Verdict: workflow.AnswerText, Text: "Because of it"}, true},
		{words, "Because", workflow.Answer{Verdict: workflow.AnswerText, Text: "Because"}, true},
	} {
		w, asking := asked(test.q)
		var out bytes.Buffer
		w.Terminal, w.In, w.Out = true, strings.NewReader(test.types), &out
		got, given, err := ask(t.Context(), w, asking)
		test.want.Question = got.Question
		if err != nil || given != test.given || given && !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q to %s is %+v, %v, %v; want %+v", test.types, test.q.Kind, got, given, err, test.want)
		}
		if !strings.Contains(out.String(), test.q.Text) {
			t.Errorf("%q does not show the question", out.String())
		}
	}
}

func TestAPersonWhoIsAskedMayLeave(t *testing.T) {
	t.Parallel()
	w, asking := asked(workflow.Question{Kind: workflow.TextQuestion, Text: "Why?"})
	typed, typing := io.Pipe()
	defer func() { _ = typing.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	w.Terminal, w.In, w.Out = true, typed, prompted(cancel)
	if _, given, err := ask(ctx, w, asking); given || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", given, err)
	}
}

func TestWithoutATerminalTheQuestionIsOnlyShown(t *testing.T) {
	t.Parallel()
	w, asking := asked(workflow.Question{Kind: workflow.ChoiceQuestion, Text: "Which?", Options: []string{"Red\x1b[2J", "Blue"}, Altered: true})
	var out bytes.Buffer
	w.In, w.Out = strings.NewReader("1\n"), &out
	if _, given, err := ask(t.Context(), w, asking); given || err != nil {
		t.Errorf("%v, %v", given, err)
	}
	for _, want := range []string{"It asks: the implementer lets you choose (Q1)", "  1. Red", "  signalbox answer 42 --option 1", "not all of it is shown"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q lacks %q", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("%q", out.String())
	}
}

// prompted is told of the prompt.
type prompted func()

func (tell prompted) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("your answer, or")) {
		tell()
	}
	return len(p), nil
}
