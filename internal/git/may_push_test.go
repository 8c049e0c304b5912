package git_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"signalbox/internal/git"
)

func TestARemoteIsAskedWhetherItWouldTakeAPush(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("a", "a\n")
	first := p.commit("first")
	remote := filepath.Join(t.TempDir(), "remote.git")
	p.git("init", "--quiet", "--bare", remote)
	p.git("remote", "add", "origin", remote)
	repo := p.open()
	if err := repo.MayPush(t.Context(), "origin", "refs/heads/main", first); err != nil {
		t.Errorf("to an empty remote: %v", err)
	}
	if there := p.git("ls-remote", "origin"); there != "" {
		t.Errorf("asking pushed %s", there)
	}
	p.write("a", "b\n")
	p.commit("second")
	p.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
	if err := repo.MayPush(t.Context(), "origin", "refs/heads/main", first); !errors.Is(err, git.ErrRefMoved) {
		t.Errorf("to a remote with other commits: %v", err)
	}
}

func TestProgramsThatARepositoryItselfNamesAreFound(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("a", "a\n")
	p.commit("first")
	p.git("remote", "add", "origin", "git@example.org:a/b.git")
	if named, err := p.open().NamesPrograms(t.Context()); err != nil || len(named) > 0 {
		t.Errorf("an ordinary repository names %q, %v", named, err)
	}
	for _, key := range []string{"core.sshCommand", "credential.helper", "remote.origin.receivepack", "gpg.ssh.program", "protocol.ext.allow"} {
		p.git("config", key, "x")
	}
	named, err := p.open().NamesPrograms(t.Context())
	if want := []string{"core.sshcommand", "credential.helper", "gpg.ssh.program", "protocol.ext.allow", "remote.origin.receivepack"}; err != nil || !slices.Equal(slices.Sorted(slices.Values(named)), want) {
		t.Errorf("it names %q, %v; want %q", named, err, want)
	}
}
