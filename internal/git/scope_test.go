package git_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"signalbox/internal/git"
	"signalbox/internal/process"
)

// dialogs counts the gits that live on after they answered.
type dialogs struct{ begun, alive *atomic.Int32 }

func (d dialogs) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if slices.Contains(c.Args, "--batch-command") {
		d.begun.Add(1)
		d.alive.Add(1)
		defer d.alive.Add(-1)
	}
	return process.Host{}.Exec(ctx, c)
}

func TestNoGitOutlivesItsScope(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	first := p.commit("first")
	d := dialogs{&atomic.Int32{}, &atomic.Int32{}}
	for range 20 {
		ctx, end := git.Scope(t.Context())
		r := p.openWith(d)
		if got := must(r.Resolve(ctx, "refs/heads/main"))(t); got != first {
			t.Fatalf("main is %s, want %s", got, first)
		}
		if d.alive.Load() != 1 {
			t.Fatalf("%d dialogs while the scope lasts, want 1", d.alive.Load())
		}
		end()
		if d.alive.Load() != 0 {
			t.Fatal("a git outlives its scope")
		}
		if got := must(r.Resolve(ctx, "refs/heads/main"))(t); got != first {
			t.Fatalf("after the scope main is %s, want %s", got, first)
		}
		end()
		if d.alive.Load() != 0 {
			t.Fatal("a git that was asked after the end outlives it")
		}
	}
	if d.begun.Load() < 20 {
		t.Errorf("%d dialogs began", d.begun.Load())
	}
}
