package gitea_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/store"
)

// site is a project with a forge on the server, whose tests always pass.
type site struct {
	target
	project string
	forge   *hosted.Forge
	now     time.Time
}

func newSite(t *testing.T, change ...func(*hosted.Config)) *site {
	t.Helper()
	s := &site{target: newTarget(t), now: time.Now()}
	s.project = newProject(t, s.target)
	repo, err := git.Open(t.Context(), process.Host{}, s.project)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := store.Open(t.Context(), store.Config{Root: s.project})
	if err != nil {
		t.Fatal(err)
	}
	driver, err := s.driver(nil)
	if err != nil {
		t.Fatal(err)
	}
	passes := func(context.Context, local.Candidate) (local.Verdict, error) { return local.Verdict{Passed: true}, nil }
	clock := func() time.Time { return s.now }
	c := hosted.Config{Server: driver, Git: local.New(local.Config{Repo: repo, Store: documents, Test: passes, Hosted: true, Clock: clock}), Store: documents, WithoutCI: true, Clock: clock}
	for _, set := range change {
		set(&c)
	}
	s.forge = hosted.New(c)
	return s
}

// commit makes an empty commit on main's, on no branch.
func (s *site) commit(t *testing.T, message string) string {
	t.Helper()
	return runGit(t, s.project, "commit-tree", "main^{tree}", "-p", "main", "-m", message)
}

func (s *site) change(t *testing.T, key string) forge.PullRequest {
	t.Helper()
	return forge.PullRequest{Key: key, Request: "1", Title: "A change", Body: "What it does", Branch: "signalbox/1-a-change", Base: "main", Head: s.commit(t, key)}
}

func (s *site) open(t *testing.T, change forge.PullRequest) forge.PullRequest {
	t.Helper()
	pr, err := s.forge.OpenPullRequest(t.Context(), change)
	if err != nil {
		t.Fatal(err)
	}
	return pr
}

func TestSilenceOfTheServerIsNoPassedCheck(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *hosted.Config) { c.WithoutCI = false })
	pr := s.open(t, s.change(t, "run-1"))
	if check, err := s.forge.Checks(t.Context(), pr.Number); !errors.Is(err, forge.ErrNoChecks) {
		t.Fatalf("at first: %+v, %v", check, err)
	}
	s.call(t, http.MethodPost, "/statuses/"+runGit(t, s.project, "rev-parse", "main"), map[string]any{"state": "success", "context": "ci"}, nil)
	if check, err := s.forge.Checks(t.Context(), pr.Number); !errors.Is(err, forge.ErrNoChecks) {
		t.Fatalf("after a verdict on another commit: %+v, %v", check, err)
	}
	driver, err := s.driver(nil)
	if err == nil {
		err = driver.Publish(t.Context(), pr.Head, forge.Verdict{Name: "ci", State: forge.Passed, Summary: "fine"})
	}
	if err != nil {
		t.Fatal(err)
	}
	if check, err := s.forge.Checks(t.Context(), pr.Number); err != nil || check.State != forge.CheckPassed {
		t.Fatalf("after a verdict: %+v, %v", check, err)
	}
}

func TestWhatWouldRefuseAMergeIsKnownBeforeARunBegins(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	reader, err := server.User(t.Context(), "reader-"+s.Name)
	if err != nil {
		t.Fatal(err)
	}
	as := func(token string, way hosted.Way) *hosted.Forge {
		at := s.target
		at.Token, at.Way = token, string(way)
		f, err := open(t.Context(), process.Host{}, nil, s.project, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	var failure *forge.Failure
	if err := as("wrong", "").MayMerge(t.Context(), "main"); !errors.As(err, &failure) || failure.Kind != forge.Unauthorized {
		t.Errorf("with a wrong token: %v", err)
	}
	if err := as(reader, "").MayMerge(t.Context(), "main"); !errors.Is(err, forge.ErrRemote) {
		t.Errorf("without the right to push: %v", err)
	}
	if err := s.forge.MayMerge(t.Context(), "none"); !errors.Is(err, forge.ErrNoBase) {
		t.Errorf("without a base: %v", err)
	}
	if err := s.forge.MayMerge(t.Context(), "main"); err != nil {
		t.Errorf("with all there is: %v", err)
	}
	s.call(t, http.MethodPost, "/branch_protections", map[string]any{"rule_name": "main", "enable_push": false}, nil)
	if err := as(s.Token, hosted.Exact).MayMerge(t.Context(), "main"); !errors.Is(err, forge.ErrRemote) {
		t.Errorf("exact into a protected branch: %v", err)
	}
	if err := s.forge.MayMerge(t.Context(), "main"); err != nil {
		t.Errorf("guarded into a protected branch: %v", err)
	}
	runGit(t, s.project, "commit", "--quiet", "--allow-empty", "-m", "Not pushed")
	if err := s.forge.MayMerge(t.Context(), "main"); !errors.Is(err, forge.ErrRemote) {
		t.Errorf("with commits that the server lacks: %v", err)
	}
}

func TestTheBaseFollowsTheServer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	there := s.commit(t, "By someone else")
	runGit(t, s.project, "push", "--quiet", "origin", there+":refs/heads/main")
	if err := s.forge.MayMerge(t.Context(), "main"); err != nil || runGit(t, s.project, "rev-parse", "main") != there {
		t.Errorf("it is at %s, not %s: %v", runGit(t, s.project, "rev-parse", "main"), there, err)
	}
	runGit(t, s.project, "commit", "--quiet", "--allow-empty", "-m", "Here")
	runGit(t, s.project, "push", "--quiet", "origin", s.commit(t, "Here too")+":refs/heads/main")
	runGit(t, s.project, "commit", "--quiet", "--amend", "--allow-empty", "-m", "Here otherwise")
	if err := s.forge.MayMerge(t.Context(), "main"); !errors.Is(err, forge.ErrRemoteMoved) {
		t.Errorf("with commits on both sides: %v", err)
	}
}

func TestNoPullRequestOfSomeoneElseIsTakenForOurs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stranger, err := server.User(t.Context(), "stranger-"+s.Name)
	if err != nil {
		t.Fatal(err)
	}
	change := s.change(t, "run-1")
	path := "repos/" + bot + "/" + s.Name
	if err := server.Call(t.Context(), stranger, http.MethodPost, path+"/forks", map[string]any{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := server.Call(t.Context(), stranger, http.MethodPost, "repos/stranger-"+s.Name+"/"+s.Name+"/contents/evil",
		map[string]any{"content": "eA==", "message": "Evil", "branch": "main", "new_branch": change.Branch}, nil); err != nil {
		t.Fatal(err)
	}
	var evil struct{ Number int }
	if err := server.Call(t.Context(), stranger, http.MethodPost, path+"/pulls", map[string]any{"title": "Evil", "base": "main", "head": "stranger-" + s.Name + ":" + change.Branch,
		"body": "<!-- signalbox:run=run-1 -->\nmine"}, &evil); err != nil {
		t.Fatal(err)
	}
	pr := s.open(t, change)
	if pr.Number == evil.Number {
		t.Fatal("a stranger's pull request from a fork was taken")
	}
	if err := s.forge.ClosePullRequest(t.Context(), pr.Number); err != nil {
		t.Fatal(err)
	}
	next := s.change(t, "run-2")
	next.Head = runGit(t, s.project, "commit-tree", "main^{tree}", "-p", pr.Head, "-m", "Further")
	second := s.open(t, next)
	if second.Number == pr.Number || second.State != forge.Open {
		t.Errorf("another run got %+v", second)
	}
	clone := newProject(t, s.target)
	runGit(t, clone, "fetch", "--quiet", "origin", second.Branch)
	elsewhere, err := open(t.Context(), process.Host{}, nil, clone, s.target, nil)
	if err != nil {
		t.Fatal(err)
	}
	third := second
	third.Key, third.Number, third.Head = "run-3", 0, runGit(t, clone, "commit-tree", "main^{tree}", "-p", second.Head, "-m", "On another machine")
	if _, err := elsewhere.OpenPullRequest(t.Context(), third); err == nil || !strings.Contains(err.Error(), "another run") {
		t.Errorf("the open pull request of another run: %v", err)
	}
	third.Key = "run-2"
	if same, err := elsewhere.OpenPullRequest(t.Context(), third); err != nil || same.Number != second.Number {
		t.Errorf("its own pull request, on another machine: %+v, %v", same, err)
	}
}

func TestOnlyOurOwnCommentIsEdited(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stranger, err := server.User(t.Context(), "stranger-"+s.Name)
	if err != nil {
		t.Fatal(err)
	}
	request, err := s.forge.OpenRequest(t.Context(), "key", "It is broken", "Fix it")
	if err != nil {
		t.Fatal(err)
	}
	const marker = "<!-- signalbox:comment=progress -->\n"
	comment := fmt.Sprintf("repos/%s/%s/issues/%d/comments", bot, s.Name, request.Number)
	if err := server.Call(t.Context(), stranger, http.MethodPost, comment, map[string]any{"body": marker + "theirs"}, nil); err != nil {
		t.Fatal(err)
	}
	write := func(text string, want ...string) {
		t.Helper()
		if err := s.forge.Comment(t.Context(), request, "progress", text); err != nil {
			t.Fatal(err)
		}
		if got := s.comments(t, request.Number); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("the comments are %q, want %q", got, want)
		}
	}
	write("one", "theirs", "one")
	write("two", "theirs", "two")
	var found []struct{ ID int64 }
	s.call(t, http.MethodGet, fmt.Sprintf("/issues/%d/comments", request.Number), nil, &found)
	s.call(t, http.MethodDelete, fmt.Sprintf("/issues/comments/%d", found[1].ID), nil, nil)
	write("two", "theirs") // as far as this machine knows, it is there
	write("three", "theirs", "three")
}

func TestATreeThatWasNotTestedRaisesTheAlarm(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *hosted.Config) { c.Merge = hosted.Guarded })
	pr := s.open(t, s.change(t, "run-1"))
	check, err := s.forge.Checks(t.Context(), pr.Number)
	if err != nil {
		t.Fatal(err)
	}
	s.call(t, http.MethodPost, "/contents/between", map[string]any{"content": "eA==", "message": "Between", "branch": "main"}, nil)
	if _, err := s.forge.Merge(t.Context(), pr.Number, check, "m"); !errors.Is(err, forge.ErrBaseMoved) {
		t.Fatalf("after the base moved: %v", err)
	}
	s.mergeByHand(t, pr)
	for range 2 {
		if _, err := s.forge.Merge(t.Context(), pr.Number, check, "m"); !errors.Is(err, forge.ErrUntested) {
			t.Errorf("what a person merged untested: %v", err)
		}
	}
	if found, err := s.forge.PullRequest(t.Context(), pr.Number); err != nil || found.State != forge.Merged || found.MergeCommit != runGit(t, s.project, "rev-parse", "main") {
		t.Errorf("it is recorded as %+v, %v", found, err)
	}
}

// mergeByHand merges on the server as a person does, as soon as it has computed that it can.
func (s *site) mergeByHand(t *testing.T, pr forge.PullRequest) {
	t.Helper()
	driver, err := s.driver(nil)
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if err = driver.MergeProposal(t.Context(), pr.Number, pr.Head, "By hand"); !errors.Is(err, forge.ErrNotReady) {
			break
		}
		<-tick.C
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestACommitThatSomeoneElsePushedIsNotMerged(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *hosted.Config) { c.Merge = hosted.Exact })
	pr := s.open(t, s.change(t, "run-1"))
	check, err := s.forge.Checks(t.Context(), pr.Number)
	if err != nil {
		t.Fatal(err)
	}
	more := runGit(t, s.project, "commit-tree", "main^{tree}", "-p", pr.Head, "-m", "By someone else")
	runGit(t, s.project, "push", "--quiet", "origin", more+":refs/heads/"+pr.Branch)
	before := runGit(t, s.project, "ls-remote", "origin", "refs/heads/*")
	if _, err := s.forge.Merge(t.Context(), pr.Number, check, "m"); !errors.Is(err, forge.ErrHeadMoved) {
		t.Errorf("the merge gives %v", err)
	}
	if _, err := s.forge.Checks(t.Context(), pr.Number); !errors.Is(err, forge.ErrPending) {
		t.Errorf("at first the check gives %v", err)
	}
	s.now = s.now.Add(3 * time.Minute)
	if _, err := s.forge.Checks(t.Context(), pr.Number); !errors.Is(err, forge.ErrHeadMoved) {
		t.Errorf("later the check gives %v", err)
	}
	if after := runGit(t, s.project, "ls-remote", "origin", "refs/heads/*"); after != before {
		t.Errorf("the server had %s and has %s", before, after)
	}
}
