package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/store"
)

// half is the git half of a server's forge, with a remote that has one more commit than its checkout.
func half(t *testing.T) (f *local.Forge, project, old, ahead string) {
	t.Helper()
	project = newProject(t)
	remote := filepath.Join(t.TempDir(), "origin.git")
	runGit(t, project, "clone", "--quiet", "--bare", project, remote)
	runGit(t, project, "remote", "add", "origin", remote)
	old = runGit(t, project, "rev-parse", "main")
	writeFile(t, filepath.Join(project, "new"), "1\n")
	runGit(t, project, "add", "new")
	runGit(t, project, "commit", "--quiet", "-m", "By someone else")
	ahead = runGit(t, project, "rev-parse", "main")
	runGit(t, project, "push", "--quiet", "origin", "main")
	runGit(t, project, "reset", "--quiet", "--hard", old)
	repo, err := git.Open(t.Context(), process.Host{}, project)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := store.Open(t.Context(), store.Config{Root: project})
	if err != nil {
		t.Fatal(err)
	}
	return local.New(local.Config{Repo: repo, Store: documents, Hosted: true, Test: func(context.Context, local.Candidate) (local.Verdict, error) {
		return local.Verdict{Passed: true}, nil
	}}), project, old, ahead
}

func wantAt(t *testing.T, project, commit string) {
	t.Helper()
	if at, status := runGit(t, project, "rev-parse", "main"), runGit(t, project, "status", "--porcelain"); at != commit || status != "" {
		t.Errorf("main is at %s, want %s, and its checkout has %q", at, commit, status)
	}
}

func TestFollowBringsTheRemotesCommits(t *testing.T) {
	t.Parallel()
	f, project, old, there := half(t)
	writeFile(t, filepath.Join(project, "new"), "mine\n")
	if _, err := f.Follow(t.Context(), "main"); !errors.Is(err, forge.ErrCheckout) {
		t.Errorf("over a local file: %v", err)
	}
	if err := os.Remove(filepath.Join(project, "new")); err != nil {
		t.Errorf("the local file is gone: %v", err)
	}
	wantAt(t, project, old)
	for range 2 {
		if ahead, err := f.Follow(t.Context(), "main"); err != nil || ahead {
			t.Errorf("ahead is %v, %v", ahead, err)
		}
		wantAt(t, project, there)
	}
	runGit(t, project, "commit", "--quiet", "--allow-empty", "-m", "Here")
	if ahead, err := f.Follow(t.Context(), "main"); err != nil || !ahead {
		t.Errorf("with a commit that the remote lacks: ahead is %v, %v", ahead, err)
	}
	runGit(t, project, "reset", "--quiet", "--hard", old)
	runGit(t, project, "commit", "--quiet", "--allow-empty", "-m", "Here")
	if _, err := f.Follow(t.Context(), "main"); !errors.Is(err, forge.ErrRemoteMoved) {
		t.Errorf("with commits on both sides: %v", err)
	}
	if _, err := f.Follow(t.Context(), "none"); !errors.Is(err, forge.ErrNoBase) {
		t.Errorf("without a base: %v", err)
	}
}

func TestTheTipIsTheRemotesAndNothingMoves(t *testing.T) {
	t.Parallel()
	f, project, old, there := half(t)
	want := func(name string, wantAhead bool, at string) {
		t.Helper()
		if tip, ahead, err := f.Tip(t.Context(), "main"); err != nil || tip != there || ahead != wantAhead {
			t.Errorf("%s: the tip is %s, ahead is %v, %v", name, tip, ahead, err)
		}
		wantAt(t, project, at)
	}
	want("behind", false, old)
	runGit(t, project, "reset", "--quiet", "--hard", there)
	want("equal", false, there)
	runGit(t, project, "commit", "--quiet", "--allow-empty", "-m", "Here")
	want("ahead", true, runGit(t, project, "rev-parse", "main"))
	runGit(t, project, "reset", "--quiet", "--hard", old)
	runGit(t, project, "commit", "--quiet", "--allow-empty", "-m", "Here")
	want("commits on both sides", true, runGit(t, project, "rev-parse", "main"))
	if _, _, err := f.Tip(t.Context(), "none"); !errors.Is(err, forge.ErrNoBase) {
		t.Errorf("without a base: %v", err)
	}
}

func TestAnInterruptedFollowIsCompleted(t *testing.T) {
	t.Parallel()
	for name, moved := range map[string]bool{"before the branch moved": false, "after the branch moved": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, project, old, there := half(t)
			writeFile(t, filepath.Join(project, ".signalbox", "proposals", "following.json"), fmt.Sprintf(`{"base":"main","old":%q,"new":%q}`, old, there))
			if moved {
				runGit(t, project, "update-ref", "refs/heads/main", there)
			}
			if err := f.MayMerge(t.Context(), "main"); errors.Is(err, forge.ErrRemoteMoved) == moved {
				t.Errorf("may merge: %v", err)
			}
			if _, err := f.Follow(t.Context(), "main"); err != nil {
				t.Error(err)
			}
			wantAt(t, project, there)
		})
	}
}

func TestAServersNumberBelongsToOneRun(t *testing.T) {
	t.Parallel()
	f, project, old, _ := half(t)
	pr := forge.PullRequest{Key: "run-1", Number: 7, Branch: "signalbox/1-x", Base: "main", Head: runGit(t, project, "commit-tree", "main^{tree}", "-p", old, "-m", "x")}
	for range 2 {
		if opened, err := f.OpenPullRequest(t.Context(), pr); err != nil || opened.Number != 7 {
			t.Fatalf("opened %+v, %v", opened, err)
		}
	}
	other := pr
	other.Key, other.Branch = "run-2", "signalbox/2-x"
	if opened, err := f.OpenPullRequest(t.Context(), other); err == nil {
		t.Errorf("another run got number %d", opened.Number)
	}
	again := pr
	again.Number = 8
	if opened, err := f.OpenPullRequest(t.Context(), again); err == nil {
		t.Errorf("the run got another number: %d", opened.Number)
	}
	if _, err := f.RecordMerge(t.Context(), 7, runGit(t, project, "commit-tree", "main^{tree}", "-m", "elsewhere")); err == nil {
		t.Error("a commit that is not on the base was recorded as its merge")
	}
	if found, err := f.PullRequest(t.Context(), 7); err != nil || found.State != forge.Open {
		t.Errorf("it is %+v, %v", found, err)
	}
}
