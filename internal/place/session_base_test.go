package place_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/environment"
	"signalbox/internal/git"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

type documents = place.Runs

// world is a run with an environment, whose lock was lost.
type world struct {
	documents
	engine.Locks
	environment.Driver
	environment.Environment
	run   workflow.Run
	saved bool
}

func (w *world) LoadRun(context.Context, workflow.RunRef) (workflow.Run, error) { return w.run, nil }

func (w *world) OpenRun(context.Context, workflow.RunRef) (engine.Writer, workflow.Run, error) {
	return writer{world: w}, w.run, nil
}

func (w *world) LockRequest(context.Context, string, engine.Owner) (engine.Lock, error) {
	return lost{}, nil
}

func (w *world) Make(context.Context, environment.Spec) (environment.Environment, error) {
	return w, nil
}

func (w *world) Record(context.Context, string, string) (environment.Change, error) {
	return environment.Change{}, nil
}

func (w *world) Reset(context.Context, string, string) error { return nil }

type writer struct {
	engine.Writer
	*world
}

func (w writer) Save(context.Context, *workflow.Run, workflow.EventName) error {
	w.saved = true
	return nil
}

func (writer) Close() error { return nil }

type lost struct{ engine.Lock }

func (lost) Lost() <-chan struct{} {
	gone := make(chan struct{})
	close(gone)
	return gone
}

func (lost) Release() error { return nil }

// An engine may hold the run by now, so a session that lost the lock changes neither the run nor its environment.
func TestASessionThatLostItsLockSavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, line := range []string{"init", "commit --allow-empty -m one", "branch first", "commit --allow-empty -m two"} {
		c := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, strings.Fields(line)...)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", line, err, out)
		}
	}
	repo, err := git.Open(t.Context(), process.Host{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	first, err := repo.Resolve(t.Context(), "refs/heads/first")
	second, err2 := repo.Resolve(t.Context(), "HEAD")
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	w := &world{run: workflow.Run{RequestID: "RQ-20260101-001", RunID: "20260101-000000-abcdef", State: workflow.NeedsInput}}
	w.run.Details.BaseCommit, w.run.Details.Head = first, first
	places := place.New(place.Config{Runs: w, Locks: w, Environments: w, Repo: repo, Now: time.Now})
	if _, err := places.BeginSession(t.Context(), workflow.RefOf(&w.run), []place.Needed{{Number: 2, Commit: second}}); !errors.Is(err, engine.ErrLost) || w.saved {
		t.Errorf("it returns %v, saved %v", err, w.saved)
	}
}
