package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"signalbox/internal/git"
)

const settingsFile, listFile = ".signalbox/config.yaml", ".worktreeinclude"

func TestRecordedSaysWhatGitHoldsOfAFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(p project)
		want    []string // the content of the settings in each place that has any
	}{
		"nothing committed":    {func(p project) { p.write(settingsFile, "mine") }, nil},
		"never committed":      {func(p project) { p.write("a", "a"); p.commit("a"); p.write(settingsFile, "mine") }, nil},
		"committed":            {func(p project) { p.write(settingsFile, "theirs"); p.commit("a") }, []string{"theirs", "theirs"}},
		"committed and edited": {func(p project) { p.write(settingsFile, "theirs"); p.commit("a"); p.write(settingsFile, "mine") }, []string{"theirs", "theirs"}},
		"only in the index":    {func(p project) { p.write("a", "a"); p.commit("a"); p.write(settingsFile, "staged"); p.git("add", "-A") }, []string{"staged"}},
		"with an empty line":   {func(p project) { p.write(settingsFile, "\n\n"); p.commit("a") }, []string{"\n\n", "\n\n"}},
		"a merge under way":    {merging, []string{"theirs", "theirs"}},
		"an attribute unset": {func(p project) {
			p.write(".gitattributes", "* -filter text")
			p.write(settingsFile, "x")
			p.commit("a")
		}, []string{"x", "x"}},
		"removed from the tree": {func(p project) { p.write(settingsFile, "x"); p.commit("a"); p.git("rm", "-q", settingsFile) }, []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			c.prepare(p)
			places, err := p.open().Recorded(t.Context(), settingsFile, listFile)
			if err != nil {
				t.Fatal(err)
			}
			if len(places) != len(c.want) {
				t.Fatalf("%d places, want %d: %q", len(places), len(c.want), places)
			}
			for i, want := range c.want {
				if got := string(places[i][settingsFile]); got != want {
					t.Errorf("place %d holds %q, want %q", i, got, want)
				}
			}
		})
	}
}

// merging is a merge that waits for its commit.
func merging(p project) {
	p.write("a", "a")
	p.commit("base")
	p.git("checkout", "-q", "-b", "side")
	p.write(settingsFile, "theirs")
	p.commit("theirs")
	p.git("checkout", "-q", "-")
	p.write("b", "b")
	p.commit("ours")
	p.git("merge", "-q", "--no-commit", "side")
}

func TestAFileThatMayHaveComeWithACommitIsNotCalledTheUsersOwn(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(p project) error{
		"a link": func(p project) error {
			p.write("evil.yaml", "x")
			p.write(".signalbox/other", "x")
			return os.Symlink("../evil.yaml", filepath.Join(p.dir, settingsFile))
		},
		"below a link": func(p project) error {
			p.write("evil/config.yaml", "x")
			return os.Symlink("evil", filepath.Join(p.dir, ".signalbox"))
		},
		"in a repository of its own": func(p project) error {
			p.write(".signalbox/.git", "gitdir: ../x")
			p.write(settingsFile, "x")
			return nil
		},
		"rewritten by ident":       attribute("ident"),
		"rewritten by a filter":    attribute("filter=x"),
		"rewritten by an encoding": attribute("working-tree-encoding=ISO-8859-1"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.write("a", "a")
			p.commit("a")
			if err := prepare(p); err != nil {
				t.Fatal(err)
			}
			if places, err := p.open().Recorded(t.Context(), settingsFile, listFile); !errors.Is(err, git.ErrUnsure) {
				t.Errorf("%q, %v", places, err)
			}
		})
	}
}

func attribute(rewrites string) func(p project) error {
	return func(p project) error {
		p.write(settingsFile, "x")
		p.commit("settings")
		p.write(".gitattributes", settingsFile+" "+rewrites+"\n")
		p.commit("attributes")
		return nil
	}
}

func TestWhatACommitBroughtIsFoundAfterTheCommitIsUndone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		undo func(p project)
		want bool
	}{
		"a reset of a merge": {func(p project) {
			p.git("merge", "-q", "--ff-only", "side")
			p.git("reset", "-q", "HEAD~1")
			p.git("branch", "-q", "-D", "side")
		}, true},
		"a branch": {func(project) {}, true},
		"taken out of the index": {func(p project) {
			p.git("merge", "-q", "--ff-only", "side")
			p.git("branch", "-q", "-D", "side")
			p.git("rm", "-q", "--cached", settingsFile)
			p.git("commit", "-q", "-m", "out")
		}, true},
		"a branch that is gone": {func(p project) {
			p.git("branch", "-q", "-D", "side")
			p.git("reflog", "expire", "--expire=now", "--all")
		}, false},
		"a tag": {func(p project) {
			p.git("tag", "-a", "-m", "x", "v1", "side")
			p.git("branch", "-q", "-D", "side")
			p.git("reflog", "expire", "--expire=now", "--all")
		}, true},
		"removed in history": {func(p project) {
			p.git("merge", "-q", "--ff-only", "side")
			p.git("rm", "-q", settingsFile)
			p.git("commit", "-q", "-m", "out")
			p.git("branch", "-q", "-D", "side")
			p.git("reflog", "expire", "--expire=now", "--all")
		}, true},
		"a branch of another remote": {func(p project) {
			p.git("update-ref", "refs/remotes/o/x", "side")
			p.git("branch", "-q", "-D", "side")
			p.git("reflog", "expire", "--expire=now", "--all")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.write("a", "a")
			p.commit("base")
			p.git("checkout", "-q", "-b", "side")
			p.write(settingsFile, "theirs")
			p.commit("theirs")
			p.git("checkout", "-q", "-")
			c.undo(p)
			places := must(p.open().RecordedBefore(t.Context(), settingsFile, listFile))(t)
			if got := len(places) == 1 && string(places[0][settingsFile]) == "theirs"; got != c.want || len(places) > 1 {
				t.Errorf("%q", places)
			}
		})
	}
	if places := must(newProject(t).open().RecordedBefore(t.Context(), settingsFile))(t); len(places) > 0 {
		t.Errorf("nothing is committed, and yet: %q", places)
	}
}
