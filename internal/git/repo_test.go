package git_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/git"
	"signalbox/internal/process"

	"signalbox/internal/process/processtest"
)

func TestOpenFindsTheFoldersFromBelow(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("deep/er/file", "x")
	below := project{t: t, dir: filepath.Join(p.dir, "deep", "er")}
	repo := below.open()
	if repo.Root() != p.dir || repo.GitDir() != p.dir+"/.git" || repo.ObjectsDir() != p.dir+"/.git/objects" {
		t.Errorf("root %s, git %s, objects %s", repo.Root(), repo.GitDir(), repo.ObjectsDir())
	}
}

func TestOpenInALinkedWorkTreeSharesTheGitFolder(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.commit("first")
	linked := project{t: t, dir: filepath.Join(p.dir, "linked\nfolder")}
	p.git("worktree", "add", "-q", "-b", "other", linked.dir)
	repo := linked.open()
	if repo.Root() != linked.dir || repo.GitDir() != p.dir+"/.git" {
		t.Errorf("root %q, git %q", repo.Root(), repo.GitDir())
	}
	if branch := must(repo.DefaultBranch(t.Context()))(t); branch != "other" {
		t.Errorf("branch %q", branch)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	bare := newProject(t)
	bare.git("init", "-q", "--bare", "bare.git")
	broken := newProject(t)
	broken.write(".git/config", "[core\n")
	for name, c := range map[string]struct {
		dir  string
		also error
	}{
		"a folder without a repository": {t.TempDir(), git.ErrNotRepository},
		"a bare repository":             {filepath.Join(bare.dir, "bare.git"), git.ErrBare},
		"the git folder itself":         {filepath.Join(bare.dir, ".git"), git.ErrNotRepository},
		"a broken configuration":        {broken.dir, git.ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := git.Open(t.Context(), process.Host{}, c.dir)
			if !errors.Is(err, git.ErrNotRepository) || !errors.Is(err, c.also) || strings.Contains(err.Error(), "fatal: not a git repository") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// replaced runs another program in place of git.
type replaced string

func (program replaced) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Args[0] = string(program)
	return process.Host{}.Exec(ctx, c)
}

// observed reports every program that ended.
type observed chan<- struct{}

func (o observed) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	defer func() { o <- struct{}{} }()
	return process.Host{}.Exec(ctx, c)
}

func TestOpenTellsWhatGitLacks(t *testing.T) {
	t.Parallel()
	old := filepath.Join(t.TempDir(), "old-git")
	if err := processtest.WriteProgram(old, []byte("#!/bin/sh\necho git version 2.37.9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := git.Open(t.Context(), replaced(old), t.TempDir())
	if !errors.Is(err, git.ErrTooOld) || !strings.Contains(err.Error(), "2.37.9") {
		t.Errorf("an old git: %v", err)
	}
	_, err = git.Open(t.Context(), replaced("no-such-git"), t.TempDir())
	if !errors.Is(err, git.ErrNoGit) {
		t.Errorf("no git: %v", err)
	}
}

func TestCanceledContextIsTheReason(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.commit("first")
	repo := p.open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := repo.Resolve(ctx, "refs/heads/main"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// silent is a git that does not answer: it hangs for as long as it is given.
type silent struct{ given *time.Duration }

func (s silent) Exec(_ context.Context, c process.Command) (process.Result, error) {
	*s.given = c.Total
	return process.Result{ExitCode: -1, Signal: "SIGKILL", Ending: process.TimedOut, Started: time.Now(), Duration: c.Total}, nil
}

func TestAGitThatHangsIsGivenUpAndNamed(t *testing.T) {
	t.Parallel()
	var given time.Duration
	_, err := git.Open(t.Context(), silent{&given}, t.TempDir())
	if !errors.Is(err, git.ErrNoAnswer) || !strings.Contains(err.Error(), "git version: no answer after 30s") || given != 30*time.Second {
		t.Errorf("given %s, got %v", given, err)
	}
}
