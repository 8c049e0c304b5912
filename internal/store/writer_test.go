package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/engine"
	"signalbox/internal/flock"
	"signalbox/internal/workflow"
)

const signalsSent = 40

// signalMany plays a person with a fast hand: commands, and a stop whenever the last one was obeyed.
func signalMany(ctx context.Context, s *Store, args []string) error {
	for i := range signalsSent {
		err := s.Signal(ctx, testRef, func(sig *workflow.Signals) error {
			sig.Commands = append(sig.Commands, workflow.Command{ID: fmt.Sprintf("%s-%d", args[0], i), Kind: workflow.CommandRetry, At: testStart})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func TestSignalsSentWhileTheRunnerSavesAreObeyedExactlyOnce(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	w, run := createRun(t, s)
	const senders = 2
	done := make(chan error, senders)
	for i := range senders {
		cmd := another(t, s, "signal", fmt.Sprint(i))
		go func() { done <- cmd.Run() }()
	}
	obeyed, saves := map[string]int{}, 0
	for left := senders; left > 0 || len(run.Signals.Commands) > 0; saves++ {
		select {
		case err := <-done:
			if left--; err != nil {
				t.Fatal(err)
			}
			if _, err := w.Refresh(t.Context(), &run); err != nil {
				t.Fatal(err)
			}
		default:
		}
		if len(run.Signals.Commands) > 0 {
			obeyed[run.Signals.Commands[0].ID]++
			run.Signals.Commands = run.Signals.Commands[1:]
		}
		save(t, w, &run)
	}
	if len(obeyed) != senders*signalsSent {
		t.Errorf("%d of %d commands were obeyed", len(obeyed), senders*signalsSent)
	}
	for id, n := range obeyed {
		if n != 1 {
			t.Errorf("command %s was obeyed %d times", id, n)
		}
	}
	t.Logf("%d commands during %d saves", len(obeyed), saves)
}

func TestSaveTakesOverUnknownKeysOnEveryLevel(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	w, run := createRun(t, s)
	run.Steps = []workflow.Step{{StepID: "S01", Attempt: 1, Status: workflow.StepPending}}
	save(t, w, &run)
	path := RunDir(testRef) + "/stage.json"
	text := read(t, s, path)
	for _, old := range []string{`"title": "Add a button"`, `"percent": 0`, `"step_id": "S01"`, `"too_large": false`, `"stop_requested": false`, `"transition": 2`} {
		if !strings.Contains(text, old) {
			t.Fatalf("%s is not in %s", old, text)
		}
		text = strings.Replace(text, old, old+`, "x-ui": `+fmt.Sprintf("%q", old), 1)
	}
	write(t, s, path, text)
	before := run
	run.Progress.Percent = 7
	save(t, w, &run)
	got := read(t, s, path)
	if n := strings.Count(got, `"x-ui"`); n != 6 || !strings.Contains(got, `"percent": 7`) {
		t.Errorf("%d of 6 unknown keys in %s", n, got)
	}
	if before.Steps[0].Unknown != nil {
		t.Error("a copy of the run that the caller kept was changed")
	}
	save(t, w, &run)
	if n := strings.Count(read(t, s, path), `"x-ui"`); n != 6 {
		t.Errorf("%d of 6 unknown keys after another save", n)
	}
}

func TestSaveRefusesWhatMayNotBe(t *testing.T) {
	t.Parallel()
	plan := &workflow.Plan{Actions: workflow.ActionPlan{Steps: []workflow.PlannedStep{{StepID: "S01"}, {StepID: "S02"}}}}
	for name, change := range map[string]func(*workflow.Run){
		"an invalid run":              func(r *workflow.Run) { r.Progress.Percent = 101 },
		"another run":                 func(r *workflow.Run) { r.RunID = "20261120-101112-00ff01" },
		"steps that leave the plan":   func(r *workflow.Run) { r.Steps = []workflow.Step{{StepID: "S01", Attempt: 1}} },
		"a final state that is left":  nil,
		"an ended state without time": func(r *workflow.Run) { r.State = workflow.Done },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t)
			w, run := createRun(t, s)
			if _, err := s.WritePlan(t.Context(), testRef, plan); err != nil {
				t.Fatal(err)
			}
			if change == nil {
				run.State, run.EndedAt = workflow.Canceled, &testStart
				save(t, w, &run)
				change = func(r *workflow.Run) { r.State, r.EndedAt = workflow.Running, nil }
			}
			before := read(t, s, RunDir(testRef)+"/stage.json")
			change(&run)
			if err := w.Save(t.Context(), &run, ""); err == nil {
				t.Error("saved")
			}
			if read(t, s, RunDir(testRef)+"/stage.json") != before {
				t.Error("stage.json changed")
			}
		})
	}
}

// unseen is a writer on another machine, whose flocks this one does not see.
func (w *RunWriter) unseen(t *testing.T) {
	t.Helper()
	if err := flock.Free(w.folder.dir); err != nil {
		t.Fatal(err)
	}
}

func TestAFormerRunnerIsFenced(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	former, old := createRun(t, s)
	former.unseen(t)
	later, run := openRun(t, s)
	run.Details.Epoch = 2
	save(t, later, &run)
	before := read(t, s, RunDir(testRef)+"/stage.json")
	old.Details.Epoch = 1
	for range 2 {
		if err := former.Save(t.Context(), &old, ""); !errors.Is(err, engine.ErrFenced) {
			t.Fatalf("the former runner saved: %v", err)
		}
	}
	if read(t, s, RunDir(testRef)+"/stage.json") != before {
		t.Error("stage.json changed")
	}
}

// dieBeforeTheLine is killed between the rename of stage.json and the line in events.jsonl.
func dieBeforeTheLine(ctx context.Context, s *Store, _ []string) error {
	w, run, err := s.OpenRun(ctx, testRef)
	if err != nil {
		return err
	}
	run.Details.Transition++
	if err := w.(*RunWriter).write(&run); err != nil {
		return err
	}
	return unix.Kill(os.Getpid(), unix.SIGKILL)
}

func TestALineThatACrashLeftOutIsAdded(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	w, _ := createRun(t, s)
	_ = w.Close()
	if err := another(t, s, "die").Run(); err == nil {
		t.Fatal("the writer survived")
	}
	path := RunDir(testRef) + "/events.jsonl"
	if n := strings.Count(read(t, s, path), "\n"); n != 1 {
		t.Fatalf("%d lines after the crash", n)
	}
	for range 2 {
		w, _ := openRun(t, s)
		_ = w.Close()
		lines := strings.Split(strings.TrimSpace(read(t, s, path)), "\n")
		if len(lines) != 2 || !strings.Contains(lines[1], `"seq":2`) || !strings.Contains(lines[1], `"event":"Recovered"`) {
			t.Fatalf("lines: %q", lines)
		}
	}
}

func TestATornLastLineIsRemoved(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	w, run := createRun(t, s)
	save(t, w, &run)
	_ = w.Close()
	path := RunDir(testRef) + "/events.jsonl"
	whole := read(t, s, path)
	for cut := 1; cut < 20; cut++ {
		write(t, s, path, whole[:len(whole)-cut])
		w, _ := openRun(t, s)
		_ = w.Close()
		lines := strings.Split(strings.TrimSpace(read(t, s, path)), "\n")
		if len(lines) != 2 || !strings.Contains(lines[1], `"seq":2`) || !strings.HasSuffix(lines[1], "}") {
			t.Fatalf("cut by %d: %q", cut, lines)
		}
	}
}

func TestARunAppearsWholeAndOnce(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	createRun(t, s)
	run := newRun()
	if err := s.CreateRun(t.Context(), &run); !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	for _, name := range []string{"stage.json", "report.md", "events.jsonl", "logs", "patches", ".lock"} {
		if _, err := os.Stat(filepath.Join(s.path, RunDir(testRef), name)); err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(s.path, "runs/RQ-1"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	later := newRun()
	later.RunID = "20261121-000000-000000"
	if err := s.CreateRun(t.Context(), &later); err != nil {
		t.Fatal(err)
	}
	latest, err := s.LatestRun(t.Context(), "RQ-1")
	if err != nil || latest.Ref.RunID != later.RunID || latest.Err != nil {
		t.Fatalf("%v, %v", latest, err)
	}
	if _, err := s.LatestRun(t.Context(), "RQ-2"); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

func TestArtifactsAreWhereTheRunSaysTheyAre(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	createRun(t, s)
	for range 2 {
		log, path, err := s.CreateLog(testRef, "implementer.S01.1.log")
		if err != nil || path != RunDir(testRef)+"/logs/implementer.S01.1.log" {
			t.Fatalf("%s, %v", path, err)
		}
		if _, err := log.Write([]byte("line\n")); err != nil {
			t.Fatal(err)
		}
		_ = log.Close()
	}
	if got := read(t, s, RunDir(testRef)+"/logs/implementer.S01.1.log"); got != "line\nline\n" {
		t.Errorf("log %q", got)
	}
	problem := &workflow.Error{ReasonCode: "X", Title: "t", Actions: []string{"a"}}
	path, err := s.WriteErrors(t.Context(), testRef, problem)
	if err != nil || !strings.Contains(read(t, s, path), `"reason_code": "X"`) {
		t.Fatal(err)
	}
	if _, err := s.WriteErrors(t.Context(), testRef, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenArtifact(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if _, err := s.OpenArtifact("../" + path); !errors.Is(err, ErrName) {
		t.Fatal(err)
	}
}

func TestAWriterThatRestsHasNothingOpenAndLosesNothing(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	w, run := createRun(t, s)
	w.Rest()
	if w.folder != nil || w.current != nil || w.events != nil || w.lock != nil {
		t.Errorf("it rests with something open: %+v", w)
	}
	if err := s.Signal(t.Context(), testRef, func(g *workflow.Signals) error { g.StopRequested = true; return nil }); err != nil {
		t.Fatal(err)
	}
	if news, err := w.Refresh(t.Context(), &run); err != nil || !news || !run.Signals.StopRequested {
		t.Errorf("woken, it sees %t (%t), %v", run.Signals.StopRequested, news, err)
	}
	w.Rest()
	run.Signals.StopRequested = false
	save(t, w, &run)
	w.Rest()
	w.Rest()
	save(t, w, &run)
	if on, err := s.Stage(testRef).Load(t.Context()); err != nil || on.Signals.StopRequested || on.Details.Transition != run.Details.Transition {
		t.Errorf("on disk is transition %d, stop %t, %v", on.Details.Transition, on.Signals.StopRequested, err)
	}
}

func TestAPlanThatSomeoneChangedIsNamedAsThat(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	w, run := createRun(t, s)
	plan := workflow.Plan{Goal: "g", Actions: workflow.ActionPlan{Steps: []workflow.PlannedStep{{StepID: "S01", Title: "One"}, {StepID: "S02", Title: "Two"}}}}
	run.Steps = []workflow.Step{{StepID: "S01", Status: workflow.StepPending, Attempt: 1}}
	if _, err := s.WritePlan(t.Context(), testRef, &plan); err != nil {
		t.Fatal(err)
	}
	if err := w.Save(t.Context(), &run, "Admitted"); !errors.Is(err, ErrPlanChanged) || errors.Is(err, ErrWrite) {
		t.Errorf("a run that does not follow planning.json: %v", err)
	}
}

// Two processes must never carry one run, not even if somebody deletes all lock files meanwhile.
func TestARunThatIsOpenIsNotOpenedAgainWhenTheLockFilesAreGone(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	first, run := createRun(t, s)
	if err := os.RemoveAll(filepath.Join(s.path, locksDir)); err != nil {
		t.Fatal(err)
	}
	other := openAt(t, Config{Root: s.path})
	lock, err := other.LockRequest(t.Context(), testRef.RequestID, engine.Owner{Name: "second"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Release() }()
	var held *HeldError
	if _, _, err := other.OpenRun(t.Context(), testRef); !errors.As(err, &held) {
		t.Errorf("a second process opens the run: %v", err)
	}
	save(t, first, &run)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, _, err := other.OpenRun(t.Context(), testRef)
	if err != nil {
		t.Fatalf("after the first has closed it: %v", err)
	}
	_ = second.Close()
}
