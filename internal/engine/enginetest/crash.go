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

// errCrash is what an engine is told that dies. What it does after that doesn't reach the document.
var errCrash = errors.New("the engine died")

// mortal are runs whose engine dies at a save: just before it, or just after.
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

// crashes has an engine die at its every save but one, again and again, until a run came to its end; then at each single
// save of a run. Each engine needs a save to be admitted and one to come further.
func crashes(t *testing.T, f *fixture) {
	f.crashEvery(t, 2, true)
	f.crashEvery(t, 3, true)
	f.crashEvery(t, 3, false)
	whole := f.create(t, 9, false)
	run, err := f.carry(t.Context(), f.engine(nil), &whole)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= run.Details.Transition; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("at save %d, after it %t", n, after), func(t *testing.T) {
				t.Parallel()
				f.crashAt(t, n, after)
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
			t.Fatalf("with %d saves each, no engine comes to the end", n)
		}
		m := &mortal{Runs: f.project, left: n, after: after}
		run, err := f.carry(t.Context(), f.engine(func(c *engine.Config) { c.Runs = m }), &f.run)
		if m.dead {
			if err == nil {
				t.Fatal("an engine that died returned no error")
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

// crashAt kills one engine at the n-th save of a run; its successor brings the run to the end.
func (f *fixture) crashAt(t *testing.T, n int, after bool) {
	t.Helper()
	f = f.fixture(t)
	m := &mortal{Runs: f.project, left: n, after: after}
	if _, err := f.carry(t.Context(), f.engine(func(c *engine.Config) { c.Runs = m }), &f.run); m.dead != errors.Is(err, errCrash) {
		t.Fatalf("after save %d it ended with %v", n, err)
	}
	f.ends(t, workflow.Done, "")
	f.checkEffects(t)
}

// checkEffects checks that what an engine did again it did under the same key.
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
