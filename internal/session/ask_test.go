package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"signalbox/internal/process"
)

// asker is an executor whose agent only asks, twice, and prints what it is answered.
type asker struct{}

func (asker) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	for _, id := range []string{"Q1", "Q2"} {
		answer, err := Ask(ctx, Question{ID: id, Text: "May I?", Details: json.RawMessage(`{"tool":"Bash"}`)})
		if err != nil {
			return process.Result{}, err
		}
		_, _ = fmt.Fprintf(c.Stdout, "%s: %s\n", id, answer)
	}
	return process.Result{}, nil
}

// waitsWith waits until the agent waits with a question.
func waitsWith(t *testing.T, x *Session, id string) Info {
	t.Helper()
	events := watched(t, x)
	for e := range events {
		if e.Info != nil && e.Info.Question != nil && e.Info.Question.ID == id {
			return *e.Info
		}
	}
	t.Fatalf("%s was never asked", id)
	return Info{}
}

func TestAnEndOfOursIsNoNews(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), Config{Issue: 42, Mode: Headless, Args: []string{"x"}, Place: "asks"})
	waitsWith(t, x, "Q1")
	if err := x.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	if info := ended(t, x); info.Outcome.Source != Stopped || len(info.Notes) != 0 {
		t.Errorf("it came to %+v, notes %q", info.Outcome, info.Notes)
	}
}

func TestAnAgentIsAnswered(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	x := started(t, s, Config{Issue: 42, Mode: Headless, Args: []string{"x"}, Place: "asks"})
	if q := waitsWith(t, x, "Q1").Question; string(q.Details) != `{"tool":"Bash"}` || q.Text != "May I?" {
		t.Errorf("it asks %+v", q)
	}
	if err := x.Answer(t.Context(), "Q2", json.RawMessage(`"early"`)); !errors.Is(err, ErrNotAsked) {
		t.Errorf("an answer to another question: %v", err)
	}
	for _, id := range []string{"Q1", "Q2"} {
		waitsWith(t, x, id)
		if err := x.Answer(t.Context(), id, json.RawMessage(`"yes"`)); err != nil {
			t.Error(err)
		}
	}
	if info := ended(t, x); info.Question != nil {
		t.Errorf("it still asks %+v", info.Question)
	}
	if text := output(t, x); !strings.Contains(text, `Q1: "yes"`) || !strings.Contains(text, `Q2: "yes"`) {
		t.Errorf("it was answered %q", text)
	}
}

func TestAStopEndsAQuestion(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	x := started(t, s, Config{Issue: 42, Mode: Headless, Args: []string{"x"}, Place: "asks"})
	waitsWith(t, x, "Q1")
	if err := x.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	if info, err := x.Info(t.Context()); err != nil || info.Question != nil || info.Outcome.Source != Stopped {
		t.Errorf("after the stop it is %+v, %v", info, err)
	}
}

// late is an executor whose agent asks, and then once more when that is over already.
type late struct{}

func (late) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if _, err := Ask(ctx, Question{ID: "Q1", Text: "May I?"}); err != nil {
		return process.Result{}, err
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	_, err := Ask(over, Question{ID: "Q2", Text: "May I?"})
	_, errPrint := fmt.Fprintf(c.Stdout, "canceled: %t\n", errors.Is(err, context.Canceled))
	return process.Result{}, errPrint
}

func TestAQuestionThatIsOverIsNotLeftBehind(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), Config{Issue: 42, Mode: Headless, Args: []string{"x"}, Place: "asks late"})
	waitsWith(t, x, "Q1")
	if err := x.Answer(t.Context(), "Q1", json.RawMessage(`"yes"`)); err != nil {
		t.Error(err)
	}
	if info := ended(t, x); info.Question != nil {
		t.Errorf("it still asks %+v", info.Question)
	}
	if text := output(t, x); !strings.Contains(text, "canceled: true") {
		t.Errorf("it printed %q", text)
	}
}
