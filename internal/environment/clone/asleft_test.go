package clone_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/process"
)

// noting records the commands that it starts.
type noting struct {
	mu  sync.Mutex
	ran []string
}

func (n *noting) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	n.mu.Lock()
	n.ran = append(n.ran, strings.Join(c.Args, " "))
	n.mu.Unlock()
	return process.Host{}.Exec(ctx, c)
}

// Most tests change nothing. Then a reset checks that once and writes nothing.
func TestAResetWithoutChangesStartsOneSandbox(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	c, ran := config(t, p), &noting{}
	c.Exec = ran
	e := made(t, clone.New(c), p)
	for _, script := range []string{"true", "cat README.md", "echo x >>README.md", "true", "git add --renormalize . && git stash list"} {
		changed := !strings.HasPrefix(script, "true") && !strings.HasPrefix(script, "cat")
		if r, err := e.Exec(t.Context(), process.Command{Args: []string{"sh", "-c", script}}); err != nil || !r.OK() {
			t.Fatalf("%s: %v, %v", script, r, err)
		}
		ran.ran = nil
		if err := e.Reset(t.Context(), p.Commit, ""); err != nil {
			t.Fatal(err)
		}
		switch started := len(ran.ran); {
		case changed && started < 2, !changed && started != 1:
			t.Errorf("after %q a reset started:\n%s", script, strings.Join(ran.ran, "\n"))
		}
	}
}

// Asking in the environment whether an agent can start must not cost another clone.
func TestALookChangesNothingAndRebuildsNothing(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	c, ran := config(t, p), &noting{}
	c.Exec = ran
	e := made(t, clone.New(c), p)
	looker, ok := e.(interface {
		Look(ctx context.Context, c process.Command) (process.Result, error)
	})
	if !ok {
		t.Fatal("the environment has no Look")
	}
	script := `test -f README.md && ! echo x 2>/dev/null >>README.md && ! echo x 2>/dev/null >new && echo x >"$HOME/new"`
	if r, err := looker.Look(t.Context(), process.Command{Args: []string{"sh", "-c", script}}); err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	ran.ran = nil
	if _, err := e.Restore(t.Context(), p.Commit, ""); err != nil {
		t.Fatal(err)
	}
	if len(ran.ran) > 0 {
		t.Errorf("a restore after a look started:\n%s", strings.Join(ran.ran, "\n"))
	}
	expect(t, e, `ls "$HOME/new" 2>/dev/null; git status --porcelain`, "")
}
