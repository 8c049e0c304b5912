package github_test

import (
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
)

// propose opens a pull request of a new branch with a file of its name.
func propose(t *testing.T, s *githubtest.Server, driver *github.Server, branch string) forge.Proposal {
	t.Helper()
	head := s.Commit(branch, map[string]string{branch + ".txt": branch})
	made, err := driver.Propose(t.Context(), forge.Proposal{Title: "Add " + branch, Body: "why", Branch: branch, Base: "main", Head: head, Draft: true})
	ok(t, err)
	return made
}

func TestAProposalIsADraftUntilItIsEdited(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "signalbox/1-a")
	if p.Number == 0 || !p.Draft || p.State != forge.Open || p.Branch != "signalbox/1-a" || p.Base != "main" || p.Head != s.Head("signalbox/1-a") || p.MergeCommit != "" {
		t.Fatalf("opened %+v", p)
	}
	for _, draft := range []bool{false, false, true, true} {
		p.Title, p.Draft = "New title", draft
		ok(t, driver.EditProposal(t.Context(), p))
		if got := must(driver.Proposal(t.Context(), p.Number))(t); got.Title != "New title" || got.Body != "why" || got.Draft != draft {
			t.Errorf("edited to %+v", got)
		}
	}
	head := s.Commit("signalbox/1-a", map[string]string{"more": "1"})
	if got := must(driver.Proposal(t.Context(), p.Number))(t); got.Head != head {
		t.Errorf("after a push the head is %s, want %s", got.Head, head)
	}
	_, err := driver.Proposal(t.Context(), 99)
	wantIs(t, err, forge.ErrNotFound)
}

func TestWithoutDraftsAProposalIsOpenedAnyway(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	s.With(func(st *githubtest.State) { st.NoDrafts = true })
	if p := propose(t, s, driver, "topic"); p.Draft || p.Number == 0 {
		t.Errorf("opened %+v", p)
	}
}

func TestTheNewestProposalOfABranchIsFound(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	_, err := driver.ProposalOf(t.Context(), "", "topic")
	wantIs(t, err, forge.ErrNotFound)
	propose(t, s, driver, "other")
	first := propose(t, s, driver, "topic")
	_, err = driver.Propose(t.Context(), first)
	wantIs(t, err, forge.ErrExists)
	for range 2 {
		ok(t, driver.CloseProposal(t.Context(), first.Number))
	}
	if got := must(driver.ProposalOf(t.Context(), "", "topic"))(t); got.Number != first.Number || got.State != forge.Closed {
		t.Errorf("found %+v", got)
	}
	second := must(driver.Propose(t.Context(), first))(t)
	if got := must(driver.ProposalOf(t.Context(), "", "topic"))(t); got.Number != second.Number || got.Number == first.Number {
		t.Errorf("found %d, want the second one, %d", got.Number, second.Number)
	}
}

func TestAProposalThatGitHubRefusesIsNoneThatExists(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	s.Commit("same", nil)
	for _, p := range []forge.Proposal{{Title: "t", Branch: "missing", Base: "main"}, {Title: "t", Branch: "same", Base: "missing"}} {
		_, err := driver.Propose(t.Context(), p)
		wantFailure(t, err, forge.Failure{Kind: forge.Refused, Status: 422})
	}
}
