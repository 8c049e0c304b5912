package perform

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/permission"
	"signalbox/internal/place"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/machine"
)

// clock is stopped. A waiter reports its duration and continues when the test lets it.
type clock struct {
	now   time.Time
	waits chan wait
}

type wait struct {
	long time.Duration
	over chan time.Time
}

func (c *clock) after(d time.Duration) <-chan time.Time {
	w := wait{d, make(chan time.Time, 1)}
	c.waits <- w
	return w.over
}

// calling is a run whose pending action replaces an agent's call and lasts until the test ends it.
type calling struct {
	*Performer
	root  string
	store *store.Store
	ref   workflow.RunRef
	clock *clock
	log   *bytes.Buffer
	// progress is the action's; over ends the action, and done has the run as the engine left it.
	progress chan engine.Progress
	over     chan struct{}
	done     chan workflow.Run
	at       engine.Progress
}

// Perform implements engine.Performer.
func (c *calling) Perform(ctx context.Context, _ workflow.Run, a workflow.Action, p engine.Progress) workflow.Event {
	if a.Key != "009-wait" {
		<-ctx.Done()
		return nil
	}
	c.progress <- p
	<-c.over
	return workflow.ActionFailed{Outcome: workflow.Outcome{Key: a.Key}, Error: workflow.Error{ReasonCode: workflow.ActionFailedCode, Title: "over",
		Next: []workflow.NextStep{workflow.Advice("none")}}}
}

func startCalling(t *testing.T, rules permission.Rules) *calling {
	t.Helper()
	root := t.TempDir()
	c := &calling{root: root, clock: &clock{time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), make(chan wait, 8)}, log: &bytes.Buffer{},
		progress: make(chan engine.Progress), over: make(chan struct{}), done: make(chan workflow.Run, 1)}
	s, err := store.Open(t.Context(), store.Config{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	run := workflow.New(workflow.Start{RequestID: "RQ-20260101-001", RunID: "20260101-120000-abcdef", Number: 1, Title: "Ask", Branch: "signalbox/1-ask", Base: "main",
		Settings: workflow.Settings{Limits: workflow.Limits{AnswerWithinSec: 90}}}, c.clock.now)
	run, _ = machine.Decide(run, workflow.Admitted{Epoch: 1}, c.clock.now)
	run.Details.Pending = []workflow.Action{{Key: "009-wait", Kind: workflow.Wait, Role: workflow.Implementer}}
	if err := s.CreateRun(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	c.store, c.ref = s, workflow.RefOf(&run)
	at := engine.Clock{Now: func() time.Time { return c.clock.now }, After: c.clock.after}
	log := slog.New(slog.NewTextHandler(c.log, nil))
	c.Performer = New(Config{Artifacts: s, Redact: redact.New(map[string]string{"TOKEN": "s3cret-s3cret"}), Clock: at, Places: place.New(place.Config{Runs: s, Locks: s, Registry: s.Environments()}),
		IssueStatus: func(issue int) engine.Document[registry.IssueStatus] { return s.IssueStatus(issue) },
		Rules:       map[workflow.Role]permission.Rules{workflow.Implementer: rules}, Logger: log})
	c.Forge = noForge{}
	e := engine.New(engine.Config{Runs: s, Locks: s, Performer: c, Clock: at, Logger: log})
	carrying, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run, err := e.Run(carrying, run.RequestID, "test", func(context.Context) (workflow.RunRef, error) { return c.ref, nil })
		if err != nil {
			t.Error(err)
		}
		c.done <- run
	}()
	c.at = <-c.progress
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return c
}

// noForge has no request.
type noForge struct{ forge.Forge }

func (noForge) Request(context.Context, string) (forge.Request, error) {
	return forge.Request{}, forge.ErrNotFound
}

// call returns the action's call of an agent.
func (c *calling) call() *call {
	x := c.of(workflow.Run{RequestID: c.ref.RequestID, RunID: c.ref.RunID})
	x.progress = c.at
	return &call{execution: x, key: "009-wait", name: "implementer.S01.1.log", end: func(error) {}}
}

// asks asks like the call's agent.
func (c *calling) asks(ctx context.Context, q agent.Question) <-chan agent.Answer {
	told := make(chan agent.Answer, 1)
	asker := c.call().asker(workflow.Implementer)
	go func() {
		defer close(told)
		if a, err := asker(ctx, q); err == nil {
			told <- a
		}
	}()
	return told
}

// end lets the action end and returns the run.
func (c *calling) end(t *testing.T) workflow.Run {
	t.Helper()
	close(c.over)
	return <-c.done
}

var vet = agent.Question{ID: "1", Kind: agent.Permission, Tool: "Bash", Subject: "go vet", Text: "go vet"}

func TestAQuestionWithoutAnAnswerInTimeCountsAsDenied(t *testing.T) {
	t.Parallel()
	c := startCalling(t, permission.Rules{})
	told := c.asks(t.Context(), vet)
	deadline := <-c.clock.waits
	if deadline.long != 90*time.Second {
		t.Errorf("it waits for %s", deadline.long)
	}
	deadline.over <- c.clock.now
	if a := <-told; a.Verdict != agent.Denied || !strings.Contains(a.Text, "No one answered in time") {
		t.Errorf("the agent got %+v", a)
	}
	run := c.end(t)
	if a := run.Details.Answer; run.Details.Question != nil || a == nil || a.By != workflow.NobodyInTime || a.Question != "Q1" {
		t.Errorf("%s, %+v, %+v", run.State, run.Details.Question, a)
	}
	if !strings.Contains(c.log.String(), "no one answered in time") {
		t.Errorf("the log says %q", c.log.String())
	}
	events, err := os.ReadFile(c.root + "/" + store.RunDir(c.ref) + "/events.jsonl")
	if err != nil || strings.Count(string(events), `"Asked"`) != 1 || strings.Count(string(events), `"Answered"`) != 1 {
		t.Errorf("%s, %v", events, err)
	}
}

func TestAPermissionForTheRunCountsInTheSameCall(t *testing.T) {
	t.Parallel()
	c := startCalling(t, permission.Rules{Deny: []string{"Bash(git *)"}})
	told := c.asks(t.Context(), vet)
	<-c.clock.waits
	err := c.store.Signal(t.Context(), c.ref, func(s *workflow.Signals) error {
		for _, answer := range []workflow.Answer{{Question: "Q7", Verdict: workflow.AnswerDeny}, {Question: "Q1", Verdict: workflow.AnswerText, Text: "?"},
			{Question: "Q1", Verdict: workflow.AnswerAllow, Always: true}, {Question: "Q1", Verdict: workflow.AnswerDeny}} {
			s.Commands = append(s.Commands, workflow.Command{ID: answer.Question + string(answer.Verdict), Kind: workflow.CommandAnswer, Answer: &answer, By: "ada"})
		}
		s.Commands = append(s.Commands, workflow.Command{ID: "empty", Kind: workflow.CommandAnswer})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if a := <-told; a.Verdict != agent.Allowed {
		t.Errorf("the agent got %+v", a)
	}
	if a := <-c.asks(t.Context(), vet); a.Verdict != agent.Allowed {
		t.Errorf("the second time it got %+v", a)
	}
	push := vet
	push.Subject = "git push"
	if a := <-c.asks(t.Context(), push); a.Verdict != agent.Denied {
		t.Errorf("for what the rules deny it got %+v", a)
	}
	run := c.end(t)
	if a := run.Details.Answer; a.By != "ada" || a.Verdict != workflow.AnswerAllow || len(run.Signals.Commands) != 0 || run.Details.Questions != 1 {
		t.Errorf("%+v, %+v, %d questions", a, run.Signals.Commands, run.Details.Questions)
	}
}

func TestAWithdrawnQuestionIsNoLongerShown(t *testing.T) {
	t.Parallel()
	c := startCalling(t, permission.Rules{})
	asking, withdraw := context.WithCancel(t.Context())
	q := vet
	q.Subject, q.Text = "echo s3cret-s3cret", "echo s3cret-s3cret"
	told := make(chan error, 1)
	asker := c.call().asker(workflow.Implementer)
	go func() {
		_, err := asker(asking, q)
		told <- err
	}()
	<-c.clock.waits
	shown, err := c.store.Stage(c.ref).Load(t.Context())
	if asked := shown.Details.Question; err != nil || asked == nil || strings.Contains(asked.Text+asked.Subject, "s3cret") || !asked.Altered || asked.Always != "" {
		t.Errorf("%+v, %v", asked, err)
	}
	withdraw()
	if err := <-told; err == nil {
		t.Error("it was answered")
	}
	if run := c.end(t); run.Details.Question != nil || run.Details.Answer != nil {
		t.Errorf("%+v, %+v", run.Details.Question, run.Details.Answer)
	}
}
