package perform

import (
	"context"
	"strings"
	"testing"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/language"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// told is a forge on a server: it passes on what it is told.
type told struct {
	forge.Forge
	announced chan forge.Announcement
	comments  chan string
}

func (f told) Request(_ context.Context, id string) (forge.Request, error) {
	return forge.Request{ID: id, Number: 1}, nil
}

func (f told) Announce(_ context.Context, _ forge.Request, a forge.Announcement) error {
	f.announced <- a
	return nil
}

func (f told) Comment(_ context.Context, _ forge.Request, _, body string) error {
	f.comments <- body
	return nil
}

func toldPerformer() (*Performer, told, workflow.Run) {
	f := told{announced: make(chan forge.Announcement, 10), comments: make(chan string, 10)}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	run := workflow.New(workflow.Start{RequestID: "1", RunID: "20260101-120000-abcdef", Number: 1, Title: "Ask", Branch: "signalbox/1-ask", Base: "main"}, now)
	run.State = workflow.Running
	clock := engine.Clock{Now: func() time.Time { return now }, After: func(time.Duration) <-chan time.Time { return nil }}
	return New(Config{Forge: f, Language: language.Japanese, Clock: clock, Redact: redact.New(nil)}), f, run
}

// A question is told while the action that asks it goes on: the engine saves it, and the action waits for the answer.
func TestAQuestionIsToldWhileItsActionGoesOn(t *testing.T) {
	t.Parallel()
	p, f, run := toldPerformer()
	x := p.of(run)
	if err := x.announced.Tell(t.Context(), run, x.theRequest); err != nil {
		t.Fatal(err)
	}
	<-f.announced
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan workflow.Event)
	until := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	go func() {
		ended <- p.Perform(ctx, run, workflow.Action{Key: "009-wait", Kind: workflow.Wait, Until: &until}, nil)
	}()
	asks := run
	asks.Details.Question, asks.Details.Transition = &workflow.Question{ID: "Q1", Kind: workflow.TextQuestion, Text: "Which?"}, 1
	seen := 0
	p.Observing(func(workflow.Run) { seen++ })(asks)
	if a := <-f.announced; a.Call == nil || !strings.Contains(a.Call.Body, "Which?") || !strings.Contains(a.Progress, "質問 `Q1` に回答してください") || seen != 1 {
		t.Errorf("it tells %+v", a)
	}
	stop()
	if event := <-ended; event != nil {
		t.Errorf("the action ends with %+v", event)
	}
}

func TestAFailedSetupIsToldInTheConfiguredLanguage(t *testing.T) {
	t.Parallel()
	p, f, run := toldPerformer()
	run.Details.SetUp = &workflow.SetUp{Name: "python", Class: workflow.FailureFatal, Errors: []string{"no space"}}
	event := p.Perform(t.Context(), run, workflow.Action{Key: "010-comment", Kind: workflow.PostComment, Reason: "## Environment setup failed"}, nil)
	if _, posted := event.(workflow.CommentPosted); !posted {
		t.Fatalf("it ends with %+v", event)
	}
	if said := <-f.comments; !strings.Contains(said, "## 環境構築失敗") || !strings.Contains(said, "no space") {
		t.Errorf("it says %s", said)
	}
}
