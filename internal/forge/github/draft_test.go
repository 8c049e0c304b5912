package github_test

import (
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/hostedtest"
)

func TestADraftBecomesReadyAndStaysSo(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	s.Issue("Fix it", "Please.")
	h := hostedtest.Harness(t, driverAt, hostedtest.Server{URL: s.URL, Remote: s.Repository, Token: "ghp_ada", Inject: s.Inject, Issue: "1"}, hosted.Exact, 1)
	change := forge.PullRequest{Key: "run-1", Request: "1", Title: "Change", Branch: "signalbox/1-a", Base: "main", Head: committed(t, h.Project)}
	for i, draft := range []bool{true, true, false, true} {
		change.Draft = draft
		h.Lose(t, i%2, forgetest.Operation{Open: &change})
		pr := must(h.Open(t).OpenPullRequest(t.Context(), change))(t)
		s.With(func(st *githubtest.State) {
			if len(st.Pulls) != 1 || st.Pulls[pr.Number].Draft != (i < 2) {
				t.Errorf("opened %d times, as a draft: %t; there are %d pull requests", i+1, st.Pulls[pr.Number].Draft, len(st.Pulls))
			}
		})
	}
}
