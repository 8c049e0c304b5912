package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/git"
	"signalbox/internal/process"
)

func TestAPartialCloneIsCompletedInAFewRequests(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			t.Parallel()
			origin := newProject(t)
			origin.write("a/b/c", "one\n")
			origin.commit("Begin")
			origin.write("a/b/c", "two\n")
			head := origin.commit("Change")
			origin.git("config", "uploadpack.allowFilter", "true")
			origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
			p := project{t: t, dir: filepath.Join(t.TempDir(), "clone")}
			origin.git("clone", "-q", "--no-checkout", "--filter="+filter, "file://"+origin.dir, p.dir)
			repo := p.open()
			if err := repo.Complete(t.Context(), head); err != nil {
				t.Fatal(err)
			}
			if missing := p.git("rev-list", "--objects", "--quiet", "--missing=print", "HEAD"); missing != "" {
				t.Errorf("it still lacks %s", missing)
			}
			if err := os.RemoveAll(origin.dir); err != nil {
				t.Fatal(err)
			}
			if err := repo.Complete(t.Context(), head); err != nil {
				t.Errorf("a complete clone asks its remote: %v", err)
			}
		})
	}
}

func TestAPartialCloneWhoseRemoteIsGoneIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	origin := newProject(t)
	origin.write("a", "one\n")
	head := origin.commit("Begin")
	origin.git("config", "uploadpack.allowFilter", "true")
	p := project{t: t, dir: filepath.Join(t.TempDir(), "clone")}
	origin.git("clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+origin.dir, p.dir)
	if err := os.RemoveAll(origin.dir); err != nil {
		t.Fatal(err)
	}
	if err := p.open().Complete(t.Context(), head); !errors.Is(err, git.ErrIncomplete) {
		t.Errorf("%v", err)
	}
}

func TestACheckoutWhoseGitFolderIsElsewhereFollowsAMerge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := project{t: t, dir: filepath.Join(dir, "tree")}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.git("init", "-q", "--separate-git-dir", filepath.Join(dir, "elsewhere"))
	p.write("a", "one\n")
	old := p.commit("Begin")
	p.write("a", "two\n")
	next := p.commit("Change")
	p.git("reset", "-q", "--hard", old)
	repo, err := git.Open(t.Context(), process.Host{}, p.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.SyncCheckout(t.Context(), "refs/heads/main", old, next); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(p.read("a")); got != "two" {
		t.Errorf("the checkout has %q", got)
	}
}
