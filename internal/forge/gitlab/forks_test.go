package gitlab_test

import (
	"errors"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitlab"
	"signalbox/internal/forge/gitlab/gitlabtest"
)

func TestAMergeRequestComesFromTheForkThatIsNamed(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	const branch = "signalbox/1-a"
	open := func(account, name string) forge.Proposal {
		s.Fork(account, name).Commit(branch, map[string]string{account: "1"})
		return must(as(t, s, account).Propose(t.Context(), forge.Proposal{Title: "Mine", Branch: branch, Fork: account + "/" + name, Base: "main"}))(t)
	}
	theirs, ours := open("mallory", "engine"), open("grace", "locomotive")
	_, err := driver.ProposalOf(t.Context(), "", branch)
	wantIs(t, err, forge.ErrNotFound)
	for fork, want := range map[string]forge.Proposal{"grace/locomotive": ours, "mallory/engine": theirs} {
		for _, got := range []forge.Proposal{must(driver.ProposalOf(t.Context(), fork, branch))(t), must(driver.Proposal(t.Context(), want.Number))(t), want} {
			if got.Number != want.Number || got.Branch != branch || got.Fork != fork || got.Head == "" {
				t.Errorf("from %s is %+v", fork, got)
			}
		}
	}
	s.With(func(st *gitlabtest.State) { delete(st.Forks, "mallory/engine") })
	if got := must(as(t, s, "ada").Proposal(t.Context(), theirs.Number))(t); got.Fork != forge.ForkGone {
		t.Errorf("of a deleted fork is %+v", got)
	}
}

func TestAForkIsFoundOrMadeOnce(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	mallory := as(t, s, "mallory")
	_, err := mallory.Fork(t.Context(), "")
	wantIs(t, err, forge.ErrNotFound)
	for _, name := range []string{gitlabtest.Path, "../x", "x"} {
		var f *forge.Failure
		if _, err = mallory.Fork(t.Context(), name); !errors.As(err, &f) || f.Kind != forge.Refused {
			t.Errorf("%q is a fork: %v", name, err)
		}
	}
	s.With(func(st *gitlabtest.State) { st.Filling = 2 })
	var f *forge.Failure
	if _, err = mallory.MakeFork(t.Context()); !errors.As(err, &f) || f.Kind != forge.Unavailable || f.RetryAfter != 5*time.Second {
		t.Errorf("a fork without branches: %v", err)
	}
	made := must(mallory.MakeFork(t.Context()))(t)
	for _, name := range []string{"", "mallory/engine"} {
		found := must(mallory.Fork(t.Context(), name))(t)
		if found.Path != "mallory/engine" || !found.MayPush || found.Parent != gitlabtest.Path || made.Path != found.Path {
			t.Errorf("%q: made %+v, and found %+v", name, made, found)
		}
	}
}

// as is a driver with the token of an account, which has read nothing yet.
func as(t *testing.T, s *gitlabtest.Server, account string) *gitlab.Server {
	t.Helper()
	return open(t, s, "glpat-"+account, gitlab.PrivateToken)
}
