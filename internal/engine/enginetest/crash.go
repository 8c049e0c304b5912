package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"signalbox/internal/engine"
	"signalbox/internal/workflow"
)

// errCrash is the error that a dying engine gets. Its later saves don't reach the document.
var errCrash = errors.New("the engine died")

// mortal are runs whose engine dies just before or just after a save.
type mortal struct {
	engine.Runs
	left  int
	after bool
	dead  bool
}

func (m *mortal) OpenRun(ctx context.Context, ref workflow.RunRef) (engine.Writer, workflow.Run, error) {
	w, run, err := m.Runs.OpenRun(ctx, ref)
	return &mortalWriter{w, m}, run, err
}

type mortalWriter struct {
	engine.Writer
	of *mortal
}

func (w *mortalWriter) Save(ctx context.Context, run *workflow.Run, event workflow.EventName) error {
	if w.of.left--; w.of.left > 0 {
		return w.Writer.Save(ctx, run, event)
	}
	var err error
	if w.of.after && !w.of.dead {
		err = w.Writer.Save(ctx, run, event)
	}
	w.of.dead = true
	return errors.Join(errCrash, err)
}

// crashes kills engine after engine at its n-th save until a run ends; then one engine at each single save of a run, and
// its successor ends the run. Each engine needs one save to be admitted and one to advance.
func crashes(t *testing.T, f *fixture) {
	f.crashEvery(t, 2, true)
	f.crashEvery(t, 3, true)
	f.crashEvery(t, 3, false)
	whole := f.create(t, 9, false)
	run, err := f.execute(t.Context(), f.engine(nil), &whole)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= run.Details.Transition; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("at save %d, after it %t", n, after), func(t *testing.T) {
				t.Parallel()
				f := f.fixture(t)
				m := &mortal{Runs: f.project, left: n, after: after}
				if _, err := f.execute(t.Context(), f.engine(func(c *engine.Config) { c.Runs = m }), &f.run); m.dead != errors.Is(err, errCrash) {
					t.Fatalf("after save %d it ended with %v", n, err)
				}
				f.ends(t, workflow.Done, "")
				f.checkEffects(t)
			})
		}
	}
}

// crashEvery kills every engine of a run at its n-th save.
func (f *fixture) crashEvery(t *testing.T, n int, after bool) {
	t.Helper()
	f = f.fixture(t)
	for engines := 1; ; engines++ {
		if engines > 200 {
			t.Fatalf("with %d saves each, no engine finishes the run", n)
		}
		m := &mortal{Runs: f.project, left: n, after: after}
		run, err := f.execute(t.Context(), f.engine(func(c *engine.Config) { c.Runs = m }), &f.run)
		if m.dead {
			if err == nil {
				t.Fatal("a dead engine returned no error")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		f.check(t, &run, workflow.Done, "")
		f.checkEffects(t)
		return
	}
}

// checkEffects checks that an engine repeats an action only under the same key.
func (f *fixture) checkEffects(t *testing.T) {
	t.Helper()
	if sorted := slices.Compact(slices.Sorted(slices.Values(f.world.done))); len(sorted) != len(f.world.done) {
		t.Errorf("effects: %q", f.world.done)
	}
	kinds := map[string]int{}
	for _, effect := range f.world.done {
		kinds[effect[len(f.run.RunID)+5:]]++
	}
	for _, once := range []string{"merge_pull_request", "open_pull_request", "create_branch"} {
		if kinds[once] != 1 {
			t.Errorf("%s was done %d times: %q", once, kinds[once], f.world.done)
		}
	}
}
