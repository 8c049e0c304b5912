package git_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/process/processtest"
)

func TestTheUserIsWhoGitSaysTheyAre(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.commit("Begin")
	ada := git.Identity{Name: "Ada", Email: "ada@example.org"}
	if user, err := p.open().User(t.Context()); err != nil || user != (git.User{Author: ada, Committer: ada}) {
		t.Errorf("%+v, %v", user, err)
	}
	p.git("config", "user.name", "Of this project")
	if user, err := p.open().User(t.Context()); err != nil || user.Author.Name != "Of this project" || user.Author.Email != ada.Email {
		t.Errorf("%+v, %v", user, err)
	}
	p.git("config", "user.email", "")
	if user, err := p.open().User(t.Context()); !errors.Is(err, git.ErrNoIdentity) {
		t.Errorf("%+v, %v", user, err)
	}
}

func TestCommitsAreSignedAsTheUsersAre(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]func(*testing.T, project){"by gpg": gpgKey, "by ssh": sshKey} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			base := p.commit("Begin")
			key(t, p)
			repo := p.open()
			id := must(repo.CommitAs(t.Context(), p.git("rev-parse", base+"^{tree}"), []string{base}, "Signed\n", noon, git.SignAuto))(t)
			p.git("verify-commit", id)
			if who := p.git("log", "-1", "--format=%an %ae %cn", id); who != "Ada ada@example.org Ada" {
				t.Errorf("it is by %s", who)
			}
			plain := must(repo.CommitAs(t.Context(), p.git("rev-parse", base+"^{tree}"), []string{base}, "Plain\n", noon, git.SignNever))(t)
			if strings.Contains(p.git("cat-file", "commit", plain), "gpgsig") {
				t.Error("a commit that is not to be signed is")
			}
		})
	}
}

func TestASignatureThatCannotBeMadeIsNamed(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	base := p.commit("Begin")
	_, err := p.open().CommitAs(t.Context(), p.git("rev-parse", base+"^{tree}"), nil, "Signed\n", noon, git.SignAuto)
	if !errors.Is(err, git.ErrSigning) || !strings.Contains(err.Error(), "/nonexistent") {
		t.Errorf("the user's program for signatures is missing, and the error is %v", err)
	}
}

// script makes a program that runs another with variables of its own: all tests share one HOME.
func script(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := processtest.WriteProgram(path, []byte("#!/bin/sh\n"+lines+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func gpgKey(t *testing.T, p project) {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "gpg") // the name of the agent's socket has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run()
		_ = os.RemoveAll(home)
	})
	made := exec.CommandContext(t.Context(), "gpg", "--homedir", home, "--batch", "--passphrase", "", "--quick-generate-key", "Ada <ada@example.org>", "ed25519", "sign")
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("make key: %v: %s", err, out)
	}
	p.git("config", "gpg.program", script(t, "exec gpg --homedir "+home+` "$@"`))
}

func sshKey(t *testing.T, p project) {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("make key: %v: %s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	signers := filepath.Join(t.TempDir(), "signers")
	if err := os.WriteFile(signers, append([]byte("ada@example.org "), public...), 0o600); err != nil {
		t.Fatal(err)
	}
	p.git("config", "gpg.format", "ssh")
	p.git("config", "gpg.ssh.program", "ssh-keygen")
	p.git("config", "gpg.program", "ssh-keygen")
	p.git("config", "user.signingkey", key)
	p.git("config", "gpg.ssh.allowedSignersFile", signers)
}

// hangsAt is a git whose named subcommand hangs until its time limit.
type hangsAt string

func (h hangsAt) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if !slices.Contains(c.Args, string(h)) {
		return process.Host{}.Exec(ctx, c)
	}
	return process.Result{ExitCode: -1, Signal: "SIGKILL", Ending: process.TimedOut, Started: time.Now(), Duration: c.Total}, nil
}

func TestAKeyWhosePassphraseIsWaitedForEndsAsAFailedSignature(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.commit("first")
	_, err := p.openWith(hangsAt("commit-tree")).CommitAs(t.Context(), p.git("rev-parse", "HEAD^{tree}"), nil, "m", time.Now(), git.SignAlways)
	if !errors.Is(err, git.ErrSigning) || !strings.Contains(err.Error(), "no signature within 1m0s") {
		t.Errorf("got %v", err)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, git.ErrNoAnswer) {
		t.Errorf("it would be tried again unasked: %v", err)
	}
}
