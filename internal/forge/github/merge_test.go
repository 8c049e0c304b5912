package github_test

import (
	"errors"
	"strings"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
)

// ready opens a pull request that is no draft.
func ready(t *testing.T, s *githubtest.Server, driver *github.Server, branch string) forge.Proposal {
	t.Helper()
	p := propose(t, s, driver, branch)
	p.Draft = false
	ok(t, driver.EditProposal(t.Context(), p))
	return p
}

func TestAMergeIsMadeOnceAndByTheRepositorysRules(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := ready(t, s, driver, "topic")
	for range 2 {
		ok(t, driver.MergeProposal(t.Context(), p.Number, p.Head, "Add a topic\n\nEvidence: none\n"))
	}
	got := must(driver.Proposal(t.Context(), p.Number))(t)
	if got.State != forge.Merged || got.MergedAt == nil || got.MergeCommit != s.Head("main") || got.Head != p.Head {
		t.Errorf("merged as %+v", got)
	}
	// A ruleset leaves one of the repository's ways.
	s.With(func(st *githubtest.State) {
		st.Rules["main"] = []map[string]any{pullRule(0, "squash")}
	})
	second := ready(t, s, driver, "second")
	ok(t, driver.MergeProposal(t.Context(), second.Number, second.Head, "Add the second"))
	if got := must(driver.Proposal(t.Context(), second.Number))(t); got.State != forge.Merged {
		t.Errorf("squashed as %+v", got)
	}
}

func pullRule(approvals int, methods ...string) map[string]any {
	return map[string]any{"type": "pull_request", "parameters": map[string]any{
		"required_approving_review_count": approvals, "allowed_merge_methods": methods, "dismiss_stale_reviews_on_push": false,
		"require_code_owner_review": false, "require_last_push_approval": false, "required_review_thread_resolution": false,
	}}
}

func checkRule(names ...string) map[string]any {
	checks := []map[string]any{}
	for _, name := range names {
		checks = append(checks, map[string]any{"context": name})
	}
	return map[string]any{"type": "required_status_checks", "parameters": map[string]any{"required_status_checks": checks, "strict_required_status_checks_policy": false}}
}

func TestARefusedMergeSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arrange func(*testing.T, *githubtest.Server, *github.Server, *forge.Proposal)
		want    error
	}{
		"head moved": {func(t *testing.T, s *githubtest.Server, _ *github.Server, p *forge.Proposal) {
			s.Commit(p.Branch, map[string]string{"more": "1"})
		}, forge.ErrHeadMoved},
		"conflict": {func(t *testing.T, s *githubtest.Server, _ *github.Server, p *forge.Proposal) {
			s.Commit("main", map[string]string{p.Branch + ".txt": "other"})
		}, forge.ErrConflict},
		"a check is missing": {func(t *testing.T, s *githubtest.Server, _ *github.Server, _ *forge.Proposal) {
			s.With(func(st *githubtest.State) { st.Rules["main"] = []map[string]any{checkRule("test")} })
		}, forge.ErrNotReady},
		"an approval is missing": {func(t *testing.T, s *githubtest.Server, _ *github.Server, _ *forge.Proposal) {
			s.With(func(st *githubtest.State) { st.Rules["main"] = []map[string]any{pullRule(1, "merge")} })
		}, forge.ErrNotReady},
		"a draft": {func(t *testing.T, _ *githubtest.Server, driver *github.Server, p *forge.Proposal) {
			p.Draft = true
			ok(t, driver.EditProposal(t.Context(), *p))
		}, forge.ErrNotReady},
		"a queue": {func(t *testing.T, s *githubtest.Server, _ *github.Server, _ *forge.Proposal) {
			s.With(func(st *githubtest.State) { st.Rules["main"] = []map[string]any{queueRule} })
		}, forge.ErrNotReady},
		"the base moved at that moment": {func(t *testing.T, s *githubtest.Server, _ *github.Server, _ *forge.Proposal) {
			s.Inject(githubtest.Fault{Method: "PUT", Status: 405, Body: `{"message":"Base branch was modified. Review and try the merge again."}`})
		}, forge.ErrNotReady},
		"closed": {func(t *testing.T, _ *githubtest.Server, driver *github.Server, p *forge.Proposal) {
			ok(t, driver.CloseProposal(t.Context(), p.Number))
		}, nil},
		"no way is allowed": {func(t *testing.T, s *githubtest.Server, _ *github.Server, _ *forge.Proposal) {
			s.With(func(st *githubtest.State) { st.Rules["main"] = []map[string]any{pullRule(0)} })
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, driver := start(t)
			p := ready(t, s, driver, "topic")
			c.arrange(t, s, driver, &p)
			base := s.Head("main")
			err := driver.MergeProposal(t.Context(), p.Number, p.Head, "m")
			var failure *forge.Failure
			switch {
			case c.want != nil:
				wantIs(t, err, c.want)
			case !errors.As(err, &failure) || failure.Kind != forge.Refused:
				t.Errorf("refused with %v", err)
			}
			if s.Head("main") != base {
				t.Error("it was merged")
			}
		})
	}
	_, driver := start(t)
	wantIs(t, driver.MergeProposal(t.Context(), 99, strings.Repeat("a", 40), "m"), forge.ErrNotFound)
}

var queueRule = map[string]any{"type": "merge_queue", "parameters": map[string]any{
	"check_response_timeout_minutes": 60, "grouping_strategy": "ALLGREEN", "max_entries_to_build": 5, "max_entries_to_merge": 5,
	"merge_method": "MERGE", "min_entries_to_merge": 1, "min_entries_to_merge_wait_minutes": 5,
}}

func TestTheQueueTakesExactlyThisHeadOnce(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := ready(t, s, driver, "topic")
	wantFailure(t, driver.Enqueue(t.Context(), p.Number, p.Head), forge.Failure{Kind: forge.Refused, Status: 200})
	s.With(func(st *githubtest.State) { st.Rules["main"] = []map[string]any{queueRule} })
	wantIs(t, driver.Enqueue(t.Context(), p.Number, s.Head("main")), forge.ErrHeadMoved)
	for range 2 {
		ok(t, driver.Enqueue(t.Context(), p.Number, p.Head))
	}
	s.With(func(st *githubtest.State) {
		if queued := st.Pulls[p.Number].Queued; queued != p.Head {
			t.Errorf("the queue has %q", queued)
		}
	})
	wantIs(t, driver.Enqueue(t.Context(), 99, p.Head), forge.ErrNotFound)
}
