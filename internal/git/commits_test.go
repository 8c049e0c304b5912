package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"signalbox/internal/git"
)

func TestCommitTreeDependsOnItsArgumentsAlone(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("a", "a\n")
	first := p.commit("first")
	repo := p.open()
	tree := repoTree(t, repo, first)
	message := "Title $(id)\n\n--body\n"
	id := must(repo.CommitTree(t.Context(), tree, []string{first}, message, robot, noon))(t)
	again := must(repo.CommitTree(t.Context(), tree, []string{first}, message, robot, noon.Local()))(t)
	if id != again {
		t.Errorf("got %s, then %s", id, again)
	}
	want := "tree " + tree + "\nparent " + first + "\n" +
		"author Signalbox <signalbox@localhost> 1772625600 +0000\ncommitter Signalbox <signalbox@localhost> 1772625600 +0000\n\n" +
		"Title $(id)\n\n--body"
	if got := p.git("cat-file", "commit", id); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, bad := range []string{"", " \n", "a\x00b"} {
		if _, err := repo.CommitTree(t.Context(), tree, nil, bad, robot, noon); !errors.Is(err, git.ErrInvalid) {
			t.Errorf("message %q: %v", bad, err)
		}
	}
}

// forked is a repository with a branch "side" that leaves main at its first commit.
func forked(t *testing.T, mainFile, sideFile string) (p project, main, side string) {
	p = newProject(t)
	p.write("shared", "one\n")
	p.commit("first")
	p.git("checkout", "-q", "-b", "side")
	p.write(sideFile, "side\n")
	side = p.commit("on the side")
	p.git("checkout", "-q", "main")
	p.write(mainFile, "main\n")
	return p, p.commit("on main"), side
}

func TestMergeTree(t *testing.T) {
	t.Parallel()
	p, main, side := forked(t, "m", "s")
	tree, conflicts, err := p.open().MergeTree(t.Context(), main, side)
	if err != nil || conflicts != nil {
		t.Fatal(conflicts, err)
	}
	if got := p.git("ls-tree", "--name-only", tree); got != "m\ns\nshared" {
		t.Errorf("merged to %q", got)
	}
}

func TestMergeTreeNamesConflicts(t *testing.T) {
	t.Parallel()
	p, main, side := forked(t, "-n \x1b\nname", "-n \x1b\nname")
	_, conflicts, err := p.open().MergeTree(t.Context(), main, side)
	if err != nil || !slices.Equal(conflicts, []string{"-n \x1b\nname"}) {
		t.Errorf("conflicts %q, error %v", conflicts, err)
	}
}

func TestMergeTreeStartsNoMergeDriver(t *testing.T) {
	t.Parallel()
	p, _, side := forked(t, "m", "shared")
	p.write("shared", "main\n")
	main := p.commit("on both sides")
	p.write(".git/info/attributes", "shared merge=canary.a=b\n")
	canary := filepath.Join(t.TempDir(), "canary")
	p.git("config", "merge.canary.a=b.driver", "touch '"+canary+"'")
	_, conflicts, err := p.open().MergeTree(t.Context(), main, side)
	if err != nil || !slices.Equal(conflicts, []string{"shared"}) {
		t.Errorf("conflicts %q, error %v", conflicts, err)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("the merge driver ran")
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	p, main, side := forked(t, "m", "s")
	p.git("merge", "-q", "--no-ff", "-m", "Merge\tthe side", "side")
	merge := p.git("rev-parse", "HEAD")
	last := p.commit("after")
	repo := p.open()

	if got := must(repo.MergeWithSecondParent(t.Context(), last, side))(t); got != merge {
		t.Errorf("merge %s, want %s", got, merge)
	}
	for name, test := range map[string]struct{ base, head string }{
		"before the merge":      {main, side},
		"the first parent":      {last, main},
		"of a commit in itself": {last, last},
	} {
		if got, err := repo.MergeWithSecondParent(t.Context(), test.base, test.head); !errors.Is(err, git.ErrNotFound) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for _, test := range []struct {
		ancestor, commit string
		want             bool
	}{{side, last, true}, {last, last, true}, {last, side, false}, {side, main, false}} {
		if got := must(repo.IsAncestor(t.Context(), test.ancestor, test.commit))(t); got != test.want {
			t.Errorf("%s before %s: %v", test.ancestor, test.commit, got)
		}
	}
	log := must(repo.Log(t.Context(), main, last, 10))(t)
	want := []git.Commit{{ID: last, Author: "Ada", Subject: "after", Message: "after\n"}, {ID: merge, Author: "Ada", Subject: "Merge\tthe side", Message: "Merge\tthe side\n"},
		{ID: side, Author: "Ada", Subject: "on the side", Message: "on the side\n"}}
	if !slices.Equal(log, want) {
		t.Errorf("log %v", log)
	}
	if all := must(repo.Log(t.Context(), "", last, 2))(t); len(all) != 2 {
		t.Errorf("log of two: %v", all)
	}
}
