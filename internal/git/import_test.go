package git_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/git"
)

const imported = "refs/signalbox/imported/1"

func TestFetchObjectsBringsOneCommit(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	base := p.commit("base")
	clone := project{t: t, dir: filepath.Join(t.TempDir(), "clone")}
	p.git("clone", "-q", p.dir, clone.dir)
	clone.write("work", "done\n")
	first := clone.commit("work")
	clone.git("tag", "unwanted")
	clone.git("reset", "-q", "--hard", base)
	clone.write("work", "otherwise\n")
	second := clone.commit("work again")
	repo := p.open()
	// The first is named by nothing but a tag; the second is no descendant of it.
	for _, id := range []string{first, first, second} {
		if err := repo.FetchObjects(t.Context(), clone.dir+"/.git", id, imported); err != nil {
			t.Fatal(err)
		}
		if got := must(repo.Resolve(t.Context(), imported))(t); got != id {
			t.Errorf("at %s, want %s", got, id)
		}
	}
	if tags := p.git("tag"); tags != "" {
		t.Errorf("tags came along: %s", tags)
	}
}

func TestFetchObjectsWorksThroughAlternates(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("file", "x\n")
	base := p.commit("base")
	repo := p.open()
	other := project{t: t, dir: t.TempDir()}
	other.git("init", "-q", "--bare", ".")
	other.write("objects/info/alternates", repo.ObjectsDir()+"\n")
	id := other.git("commit-tree", "-p", base, "-m", "recorded", base+"^{tree}")
	if err := repo.FetchObjects(t.Context(), other.dir, id, imported); err != nil {
		t.Fatal(err)
	}
	if got := p.git("rev-parse", imported+"^"); got != base {
		t.Errorf("parent %s, want %s", got, base)
	}
}

func TestFetchObjectsRefusesABrokenTree(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.commit("base")
	evil := newProject(t)
	blob := evil.git("hash-object", "-w", "--stdin")
	mktree := exec.CommandContext(t.Context(), "git", "mktree")
	mktree.Dir, mktree.Stdin = evil.dir, strings.NewReader("100644 blob "+blob+"\t.GIT\n")
	out, err := mktree.Output()
	if err != nil {
		t.Fatal(err)
	}
	id := evil.git("commit-tree", "-m", "evil", strings.TrimSpace(string(out)))
	p.git("config", "fetch.fsckObjects", "false")
	repo := p.open()
	err = repo.FetchObjects(t.Context(), evil.dir+"/.git", id, imported)
	if err == nil || !strings.Contains(err.Error(), "fsck") && !strings.Contains(err.Error(), "hasDotgit") {
		t.Errorf("got %v", err)
	}
	if _, err := repo.Resolve(t.Context(), id); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("the commit is here: %v", err)
	}
}

func TestFetchObjectsRunsNothingOfTheOtherRepository(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.commit("base")
	evil := newProject(t)
	id := evil.commit("evil")
	canary := filepath.Join(t.TempDir(), "canary")
	evil.git("config", "uploadpack.packObjectsHook", "touch '"+canary+"'; exec")
	evil.git("config", "core.fsmonitor", "touch '"+canary+"'")
	evil.git("config", "core.alternateRefsCommand", "touch '"+canary+"'")
	hook := "#!/bin/sh\ntouch '" + canary + "'\n"
	evil.write(".git/hooks/post-checkout", hook)
	p.write(".git/hooks/reference-transaction", hook)
	if err := os.Chmod(filepath.Join(p.dir, ".git/hooks/reference-transaction"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := p.open().FetchObjects(t.Context(), evil.dir+"/.git", id, imported); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a program of a repository ran")
	}
}

// A repository that is missing something may say where to get it, and by which program.
func TestFetchObjectsFetchesNothingForTheOtherRepository(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.commit("base")
	evil := newProject(t)
	evil.write("file", "gone\n")
	id := evil.commit("evil")
	blob := evil.git("rev-parse", id+":file")
	canary := filepath.Join(t.TempDir(), "canary")
	for key, value := range map[string]string{"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.url": "ssh://nowhere/x",
		"remote.origin.promisor": "true", "protocol.ssh.allow": "always", "core.sshCommand": "touch '" + canary + "';"} {
		evil.git("config", key, value)
	}
	if err := os.Remove(filepath.Join(evil.dir, ".git/objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if err := p.open().FetchObjects(t.Context(), evil.dir+"/.git", id, imported); err == nil {
		t.Error("a commit without its files was imported")
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a program of a repository ran")
	}
	if left, err := filepath.Glob(filepath.Join(p.dir, ".git/objects/pack/tmp_*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestFetchObjectsRefuses(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	id := p.commit("base")
	other := newProject(t)
	otherID := other.commit("other")
	for name, test := range map[string]struct {
		from, id, ref string
		want          error
	}{
		"a relative path":             {"../x", id, imported, git.ErrInvalid},
		"an address":                  {"https://example.org/x", id, imported, git.ErrInvalid},
		"an option":                   {"--upload-pack=touch x", id, imported, git.ErrInvalid},
		"a branch of the user":        {other.dir + "/.git", otherID, "refs/heads/main", git.ErrInvalid},
		"a name in place of an id":    {other.dir + "/.git", "HEAD", imported, git.ErrInvalid},
		"a commit that is nowhere":    {other.dir + "/.git", strings.Repeat("a", 40), imported, nil},
		"a folder that is not there":  {other.dir + "/none", otherID, imported, nil},
		"a tree in place of a commit": {other.dir + "/.git", other.git("rev-parse", "HEAD^{tree}"), imported, git.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			err := p.open().FetchObjects(t.Context(), test.from, test.id, test.ref)
			if err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
