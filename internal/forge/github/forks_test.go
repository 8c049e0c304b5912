package github_test

import (
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
)

// as is the driver with the token of an account.
func as(t *testing.T, s *githubtest.Server, account string) *github.Server {
	t.Helper()
	c := config(s)
	c.Token = token("ghp_" + account)
	return open(t, c)
}

// Anybody can open a pull request from a fork whose branch has the name of one of ours.
func TestABranchOfAnotherForkIsNotOurs(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	const branch = "signalbox/1-a"
	open := func(account, name string) forge.Proposal {
		s.Fork(account, name).Commit(branch, map[string]string{account: "1"})
		return must(as(t, s, account).Propose(t.Context(), forge.Proposal{Title: "Mine", Branch: branch, Fork: account + "/" + name, Base: "main"}))(t)
	}
	theirs := open("mallory", githubtest.Name)
	_, err := driver.ProposalOf(t.Context(), "", branch)
	wantIs(t, err, forge.ErrNotFound)
	_, err = driver.ProposalOf(t.Context(), "grace/locomotive", branch)
	wantIs(t, err, forge.ErrNotFound)
	ours := open("grace", "locomotive")
	for fork, want := range map[string]forge.Proposal{"grace/locomotive": ours, "mallory/engine": theirs} {
		got := must(driver.ProposalOf(t.Context(), fork, branch))(t)
		if got.Number != want.Number || got.Branch != branch || !strings.EqualFold(got.Fork, fork) {
			t.Errorf("from %s is %+v", fork, got)
		}
	}
	s.With(func(st *githubtest.State) { delete(st.Forks, "mallory") })
	if got := must(driver.Proposal(t.Context(), theirs.Number))(t); got.Fork != forge.ForkGone {
		t.Errorf("of a deleted fork is %+v", got)
	}
}

func TestAForkIsFoundOrMadeOnce(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	mallory := as(t, s, "mallory")
	_, err := mallory.Fork(t.Context(), "")
	wantIs(t, err, forge.ErrNotFound)
	_, err = mallory.Fork(t.Context(), "nobody/engine")
	wantIs(t, err, forge.ErrNotFound)
	for _, name := range []string{githubtest.Owner + "/" + githubtest.Name, "../x", "a/b/c"} {
		_, err = mallory.Fork(t.Context(), name)
		wantFailure(t, err, forge.Failure{Kind: forge.Refused})
	}
	s.With(func(st *githubtest.State) { st.Filling = 1 })
	_, err = mallory.MakeFork(t.Context())
	wantFailure(t, err, forge.Failure{Kind: forge.Unavailable, RetryAfter: 5 * time.Second})
	made := must(mallory.MakeFork(t.Context()))(t)
	for _, name := range []string{"", "mallory/engine"} {
		found := must(mallory.Fork(t.Context(), name))(t)
		if found.Path != "mallory/engine" || !found.MayPush || found.Parent != githubtest.Owner+"/"+githubtest.Name || made.Path != found.Path {
			t.Errorf("%q: made %+v, and found %+v", name, made, found)
		}
	}
	if found := must(as(t, s, "grace").Fork(t.Context(), "mallory/engine"))(t); found.MayPush {
		t.Error("another may push to the fork")
	}
}
