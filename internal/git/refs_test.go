package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"signalbox/internal/git"
)

const zeros = "0000000000000000000000000000000000000000"

func TestDefaultBranch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		make func(p project)
		want string
	}{
		"is the branch that is checked out": {func(p project) { p.git("checkout", "-q", "-b", "trunk") }, "trunk"},
		"is main when nothing is":           {func(p project) { p.git("checkout", "-q", "--detach") }, "main"},
		"is master when there is no main": {func(p project) {
			p.git("branch", "-m", "main", "master")
			p.git("checkout", "-q", "--detach")
		}, "master"},
		"is main when the one checked out has no commit": {func(p project) { p.git("checkout", "-q", "--orphan", "empty") }, "main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.commit("first")
			test.make(p)
			if got := must(p.open().DefaultBranch(t.Context()))(t); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if _, err := newProject(t).open().DefaultBranch(t.Context()); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("without a commit: %v", err)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	id := p.commit("first")
	p.git("tag", "-a", "-m", "a tag", "v1")
	repo := p.open()
	for _, ref := range []string{"HEAD", "refs/heads/main", "refs/tags/v1", id} {
		if got := must(repo.Resolve(t.Context(), ref))(t); got != id {
			t.Errorf("%s is %s, want %s", ref, got, id)
		}
	}
	for _, ref := range []string{"refs/heads/none", strings.Repeat("1", 40), repoTree(t, repo, id)} {
		if _, err := repo.Resolve(t.Context(), ref); !errors.Is(err, git.ErrNotFound) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for _, ref := range []string{
		"", "main", "--output=x", "-n", "HEAD~1", "refs/heads/main^{tree}", "refs/heads/a..b", "refs/heads/--output=x",
		"refs/heads/a b", "refs/heads/x\n", "refs/heads/.a", "refs/heads/a.lock", "refs/heads/$(id)", ":/first", "@{-1}", id[:12],
	} {
		if _, err := repo.Resolve(t.Context(), ref); !errors.Is(err, git.ErrInvalid) {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

func TestResolveTellsACorruptCommitFromAMissingOne(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	id := p.commit("first")
	object := filepath.Join(p.dir, ".git", "objects", id[:2], id[2:])
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(object, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.open().Resolve(t.Context(), mainRef); err == nil || errors.Is(err, git.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func repoTree(t *testing.T, repo *git.Repo, commit string) string {
	t.Helper()
	return must(repo.TreeOf(t.Context(), commit))(t)
}

func TestUpdateRefComparesBeforeItMoves(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	first, second := p.commit("first"), p.commit("second")
	repo := p.open()
	const ref = "refs/signalbox/runs/1"
	for _, step := range []struct {
		name    string
		id, old string
		want    error
		after   string
	}{
		{"a ref that is not there is not at any commit", second, first, git.ErrRefMoved, ""},
		{"zeros make it", first, zeros, nil, first},
		{"zeros make it only once", second, zeros, git.ErrRefMoved, first},
		{"and not again with the same commit", first, "", git.ErrRefMoved, first},
		{"it moves from where it is", second, first, nil, second},
		{"not from where it was", first, first, git.ErrRefMoved, second},
	} {
		err := repo.UpdateRef(t.Context(), ref, step.id, step.old)
		if !errors.Is(err, step.want) {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got, _ := repo.Resolve(t.Context(), ref); got != step.after {
			t.Fatalf("%s: the ref is at %q, want %q", step.name, got, step.after)
		}
	}
	if err := repo.DeleteRef(t.Context(), ref, first); !errors.Is(err, git.ErrRefMoved) {
		t.Errorf("delete from elsewhere: %v", err)
	}
	if err := repo.DeleteRef(t.Context(), ref, second); err != nil {
		t.Error(err)
	}
	if err := repo.DeleteRef(t.Context(), ref, second); !errors.Is(err, git.ErrRefMoved) {
		t.Errorf("delete again: %v", err)
	}
}

func TestOnlyOneOfManyMovesARef(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	base := p.commit("base")
	var commits []string
	for range 8 {
		commits = append(commits, p.commit("next"))
	}
	repo := p.open()
	const ref = "refs/signalbox/contested"
	if err := repo.UpdateRef(t.Context(), ref, base, ""); err != nil {
		t.Fatal(err)
	}
	var won atomic.Int32
	var group sync.WaitGroup
	for _, id := range commits {
		group.Go(func() {
			switch err := repo.UpdateRef(t.Context(), ref, id, base); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, git.ErrRefMoved) && !errors.Is(err, git.ErrLocked):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Errorf("%d of them moved it", won.Load())
	}
}

func TestCreateBranchTakesOwnNamesOnly(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	first, second := p.commit("first"), p.commit("second")
	repo := p.open()
	for range 2 {
		if err := repo.CreateBranch(t.Context(), "signalbox/42-fix-parser", first); err != nil {
			t.Fatal(err)
		}
	}
	if err := repo.CreateBranch(t.Context(), "signalbox/42-fix-parser", second); !errors.Is(err, git.ErrRefMoved) {
		t.Errorf("another commit: %v", err)
	}
	for _, name := range []string{"main", "--output=x", "signalbox/x", "signalbox/1-", "signalbox/1-A", "signalbox/1-../x", "signalbox/1-x\n"} {
		if err := repo.CreateBranch(t.Context(), name, first); !errors.Is(err, git.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestRefsListsWhatIsBelow(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	id := p.commit("first")
	for _, ref := range []string{"refs/signalbox/b", "refs/signalbox/a/1", "refs/signalboxes/no", "refs/heads/signalbox/a"} {
		p.git("update-ref", ref, id)
	}
	want := []git.Ref{{Name: "refs/signalbox/a/1", ID: id}, {Name: "refs/signalbox/b", ID: id}}
	for _, prefix := range []string{"refs/signalbox", "refs/signalbox/"} {
		if got := must(p.open().Refs(t.Context(), prefix))(t); !slices.Equal(got, want) {
			t.Errorf("%s: %v", prefix, got)
		}
	}
	if got := must(p.open().Refs(t.Context(), "refs/none"))(t); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Fix the parser":                "fix-the-parser",
		"$(id)":                         "id",
		"`rm -rf /`; echo":              "rm-rf-echo",
		"../../etc/passwd":              "etc-passwd",
		"":                              "change",
		"日本語":                           "change",
		"--output=x":                    "output-x",
		"a\x00b\nc\x1b[31m":             "a-b-c-31m",
		strings.Repeat("word ", 20):     "word-word-word-word-word-word-word-word",
		strings.Repeat("x", 100):        strings.Repeat("x", 40),
		"ok " + strings.Repeat("y", 60): "ok",
	} {
		got := git.Slug(title)
		if got != want || !git.ValidBranch("signalbox/1-"+got) {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}

func TestDropRefTakesAwayTheLockThatAKilledDeletionLeft(t *testing.T) {
	t.Parallel()
	repo := newProject(t).open()
	ref := "refs/signalbox/environments/x"
	lock := filepath.Join(repo.GitDir(), filepath.FromSlash(ref)+".lock")
	if err := os.MkdirAll(filepath.Dir(lock), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lock, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(lock, long, long); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := repo.DropRef(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(lock); !os.IsNotExist(err) {
		t.Errorf("the lock is still there: %v", err)
	}
}

func TestABranchOfAnUnsafeNameIsNotPassedOverForMain(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.commit("first")
	p.git("update-ref", "refs/heads/-x", "HEAD")
	p.git("symbolic-ref", "HEAD", "refs/heads/-x")
	if branch, err := p.open().DefaultBranch(t.Context()); !errors.Is(err, git.ErrInvalid) {
		t.Errorf("%q, %v", branch, err)
	}
}
