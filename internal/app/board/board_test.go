package board_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/app/board"
	"signalbox/internal/engine"
	"signalbox/internal/workflow"
)

func TestACardIsInTheColumnOfWhoMustAct(t *testing.T) {
	t.Parallel()
	run := func(state workflow.State, change func(*workflow.Run)) *workflow.Run {
		r := &workflow.Run{State: state}
		r.Details.Number, r.Details.Head = 7, "c0ffee"
		change(r)
		return r
	}
	as := func(*workflow.Run) {}
	soon := time.Now()
	for name, test := range map[string]struct {
		line app.Listing
		want board.Column
		next workflow.Verb
	}{
		"not begun":  {app.Listing{}, board.Waiting, ""},
		"closed":     {app.Listing{Closed: true}, board.Done, ""},
		"unreadable": {app.Listing{Problem: "not JSON"}, board.NeedsYou, ""},
		"works":      {app.Listing{Run: run(workflow.Running, as)}, board.Working, ""},
		"cut off":    {app.Listing{Run: run(workflow.Running, as), Interrupted: true}, board.NeedsYou, workflow.VerbResume},
		"queued":     {app.Listing{Run: run(workflow.Queued, as)}, board.Waiting, ""},
		"parked":     {app.Listing{Run: run(workflow.Queued, func(r *workflow.Run) { r.Details.ParkedUntil = &soon })}, board.Waiting, ""},
		"asks":       {app.Listing{Run: run(workflow.Running, func(r *workflow.Run) { r.Details.Question = &workflow.Question{} })}, board.NeedsYou, ""},
		"failed": {app.Listing{Run: run(workflow.Failed, func(r *workflow.Run) {
			r.Error = &workflow.Error{Next: []workflow.NextStep{r.Ask("again", workflow.VerbRetry)}}
		})}, board.NeedsYou, workflow.VerbRetry},
		"waits for a yes": {app.Listing{Run: run(workflow.NeedsInput, func(r *workflow.Run) { r.Details.Phase = workflow.ApprovalWait })}, board.Ready, workflow.VerbDiff},
		"merged":          {app.Listing{Run: run(workflow.Done, as)}, board.Done, ""},
		"canceled":        {app.Listing{Run: run(workflow.Canceled, as)}, board.Done, ""},
	} {
		card := board.CardOf(test.line)
		if card.Column != test.want || test.next == "" != (len(card.Next) == 0) || test.next != "" && card.Next[0].Verb != test.next {
			t.Errorf("%s: in %s with %v, want %s with %q", name, card.Column, card.Next, test.want, test.next)
		}
		if (card.Approve == "c0ffee") != (test.want == board.Ready) {
			t.Errorf("%s: the commit to approve is %q", name, card.Approve)
		}
	}
}

func TestABoardSeesEveryChange(t *testing.T) {
	t.Parallel()
	dir := apptest.Make(t, apptest.Greeting)
	p := apptest.Open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	changed, err := board.Watch(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want, after string) {
		t.Helper()
		for {
			select {
			case id := <-changed:
				if id == want {
					return
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("no change of %q after %s", want, after)
			}
		}
	}
	const id = "RQ-20260101-007"
	card := func() board.Card {
		t.Helper()
		c, ok, err := board.One(t.Context(), p, id)
		if err != nil || !ok {
			t.Fatalf("no card: %v", err)
		}
		return c
	}
	if c := card(); c.Column != board.Waiting || c.Title != "Greet the world" {
		t.Fatalf("before it began: %+v", c)
	}
	lock, err := p.Store.LockRequest(t.Context(), id, engine.Owner{Name: "run 7"})
	if err != nil {
		t.Fatal(err)
	}
	expect(id, "a process began to work on it")
	run := workflow.New(workflow.Start{RequestID: id, RunID: "20260101-000000-aaaaaa", Number: 7, Title: "Greet the world"}, time.Now().UTC())
	if err := p.Store.CreateRun(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	expect(id, "its run began")
	if c := card(); c.Column != board.Waiting || c.RunID != run.RunID {
		t.Fatalf("with a queued run: %+v", c)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	expect(id, "its process ended")
	if c := card(); c.Column != board.NeedsYou || len(c.Next) == 0 || c.Next[0].Verb != workflow.VerbResume {
		t.Fatalf("cut off: %+v", c)
	}
	if err := os.WriteFile(filepath.Join(dir, "requests", "other.md"), []byte("---\nid: RQ-20260101-008\nnumber: 8\ntitle: Another\n---\n\nMore.\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	expect("", "another request was written")
	cards, broken, err := board.Read(t.Context(), p)
	if err != nil || broken != nil || len(cards) != 2 || cards[0].Number != 7 || cards[1].Column != board.Waiting {
		t.Fatalf("the board is %+v, %v, %v", cards, broken, err)
	}
	cancel()
	for range changed { // ends
	}
}
