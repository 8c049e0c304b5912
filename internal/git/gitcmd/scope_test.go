package gitcmd_test

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"signalbox/internal/git/gitcmd"
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
	dir := newRepository(t)
	d := dialogs{&atomic.Int32{}, &atomic.Int32{}}
	for range 20 {
		ctx, end := gitcmd.Scope(t.Context())
		asked := (&gitcmd.Runner{Exec: d, Root: dir, GitDir: filepath.Join(dir, ".git")}).NewDialog("cat-file", "--batch-command")
		if err := ask(ctx, asked); err != nil {
			t.Fatal(err)
		}
		if d.alive.Load() != 1 {
			t.Fatalf("%d dialogs while the scope lasts, want 1", d.alive.Load())
		}
		end()
		if d.alive.Load() != 0 {
			t.Fatal("a git outlives its scope")
		}
		if err := ask(ctx, asked); err == nil {
			t.Fatal("a git answered after the end of its scope")
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

// ask has a git that is up answer a question.
func ask(ctx context.Context, asked *gitcmd.Dialog) error {
	return asked.Exchange(ctx, "info HEAD\n", func(out *bufio.Reader) error {
		line, err := out.ReadString('\n')
		if err == nil && line != "HEAD missing\n" {
			err = fmt.Errorf("git said %q", line)
		}
		return err
	})
}

// newRepository is a repository without a commit.
func newRepository(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return dir
}
