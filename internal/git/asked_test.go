package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"signalbox/internal/git"
	"signalbox/internal/process"
)

// counting notes what it runs.
type counting struct {
	mu  sync.Mutex
	ran []string
}

func (c *counting) Exec(ctx context.Context, command process.Command) (process.Result, error) {
	c.mu.Lock()
	c.ran = append(c.ran, strings.Join(command.Args, " "))
	c.mu.Unlock()
	return process.Host{}.Exec(ctx, command)
}

// A run asks all of this of one change, some of it several times. What one git can answer, or what was answered
// before, starts no other.
func TestWhatIsAskedOfOneChangeStartsFewPrograms(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	old := p.commitFile("a", "1\n")
	head := p.commitFile("a", "1\n2\n")
	exec := &counting{}
	repo, err := git.Open(t.Context(), exec, p.dir)
	if err != nil {
		t.Fatal(err)
	}
	opened := len(exec.ran)
	ctx := t.Context()
	for range 2 {
		if at, err := repo.DefaultBranch(ctx); err != nil || at != "main" {
			t.Errorf("default branch: %q, %v", at, err)
		}
		if detached, err := repo.Detached(ctx); err != nil || detached {
			t.Errorf("detached: %t, %v", detached, err)
		}
		if _, err := repo.Resolve(ctx, "refs/heads/nowhere"); !errors.Is(err, git.ErrNotFound) {
			t.Errorf("a branch that is not there: %v", err)
		}
		if err := repo.DropRef(ctx, "refs/signalbox/nowhere"); err != nil {
			t.Error(err)
		}
		for _, want := range []struct {
			one, other string
			is         bool
		}{{old, head, true}, {head, old, false}, {head, head, true}} {
			if is, err := repo.IsAncestor(ctx, want.one, want.other); err != nil || is != want.is {
				t.Errorf("%s is an ancestor of %s: %t, %v", want.one, want.other, is, err)
			}
		}
		if at, err := repo.MergeBase(ctx, old, head); err != nil || at != old {
			t.Errorf("merge base: %q, %v", at, err)
		}
		if tree, conflicts, err := repo.MergeTree(ctx, old, head); err != nil || tree != p.git("rev-parse", head+"^{tree}") || len(conflicts) > 0 {
			t.Errorf("merged: %q, %q, %v", tree, conflicts, err)
		}
		changes, err := repo.Changes(ctx, old, head)
		if err != nil || len(changes) != 1 || changes[0].Added != 1 || changes[0].Size != 4 {
			t.Fatalf("changes: %+v, %v", changes, err)
		}
		read := ""
		if err := repo.Blobs(ctx, []string{changes[0].NewID, changes[0].OldID}, 3, func(_ string, content []byte) { read += string(content) }); err != nil || read != "1\n21\n" {
			t.Errorf("contents: %q, %v", read, err)
		}
		if _, err := repo.Signs(ctx, git.SignNever); err != nil {
			t.Error(err)
		}
		if _, err := repo.User(ctx); err != nil {
			t.Error(err)
		}
	}
	// One answers questions, one lists the configuration, and one compares.
	if ran := exec.ran[opened:]; len(ran) != 3 {
		t.Errorf("%d programs were started:\n%s", len(ran), strings.Join(ran, "\n"))
	}
}

// Where a history is cut off, git says of a commit's parents what the commit does not.
func TestHistoriesEndWhereGitSaysTheyEnd(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	first := p.commitFile("a", "1\n")
	second := p.commitFile("a", "2\n")
	third := p.commitFile("a", "3\n")
	if err := os.WriteFile(filepath.Join(p.dir, ".git", "shallow"), []byte(second+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	repo := p.open()
	if is, err := repo.IsAncestor(t.Context(), first, third); err != nil || is {
		t.Errorf("the first commit is an ancestor of the third: %t, %v", is, err)
	}
	if _, err := repo.MergeBase(t.Context(), first, third); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("a common ancestor: %v", err)
	}
}

// A merge is looked at no further than its parents, so git decides what lies behind it.
func TestAnAncestorBehindAMergeIsFound(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	first := p.commitFile("a", "1\n")
	p.git("checkout", "-q", "-b", "side")
	side := p.commitFile("b", "1\n")
	p.git("checkout", "-q", "main")
	other := p.commitFile("c", "1\n")
	p.git("merge", "-q", "--no-ff", "-m", "merge", "side")
	head := p.git("rev-parse", "HEAD")
	for ancestor, want := range map[string]bool{first: true, side: true, other: true} {
		if is, err := p.open().IsAncestor(t.Context(), ancestor, head); err != nil || is != want {
			t.Errorf("%s is an ancestor: %t, %v", ancestor, is, err)
		}
	}
	if is, err := p.open().IsAncestor(t.Context(), side, other); err != nil || is {
		t.Errorf("one side is an ancestor of the other: %t, %v", is, err)
	}
}

// A linked work tree has a HEAD of its own.
func TestALinkedWorkTreeSaysItselfWhatItHasCheckedOut(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.commitFile("a", "1\n")
	dir := filepath.Join(t.TempDir(), "linked")
	p.git("worktree", "add", "-q", "-b", "other", dir)
	repo, err := git.Open(t.Context(), process.Host{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := repo.DefaultBranch(t.Context()); err != nil || at != "other" {
		t.Errorf("default branch: %q, %v", at, err)
	}
	p.git("checkout", "-q", "--detach")
	if detached, err := p.open().Detached(t.Context()); err != nil || !detached {
		t.Errorf("detached: %t, %v", detached, err)
	}
}

// commitFile commits one file.
func (p project) commitFile(name, content string) string {
	p.t.Helper()
	p.write(name, content)
	return p.commit("Write " + name)
}
