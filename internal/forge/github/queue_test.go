package github_test

import (
	"errors"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/hostedtest"
)

func TestAQueueMergesWhatPassedAndGivesBackTheRest(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	s.Issue("Fix it", "Please.")
	h := hostedtest.Harness(t, driverAt, hostedtest.Server{URL: s.URL, Remote: s.Repository, Token: "ghp_ada", Inject: s.Inject, Issue: "1"}, hosted.Queue, 1)
	s.With(func(st *githubtest.State) { st.Rules["main"] = []map[string]any{queueRule} })
	f := h.Open(t)
	pr := must(f.OpenPullRequest(t.Context(), forge.PullRequest{Key: "run-1", Request: "1", Title: "Change", Branch: "signalbox/1-a", Base: "main", Head: committed(t, h.Project)}))(t)
	check := must(f.Checks(t.Context(), pr.Number))(t)
	merge := func() (forge.PullRequest, error) { return h.Open(t).Merge(t.Context(), pr.Number, check, "m") }
	for range 3 {
		if _, err := merge(); !errors.Is(err, forge.ErrPending) {
			t.Fatalf("queued, it gives %v", err)
		}
	}
	s.With(func(st *githubtest.State) {
		if st.Pulls[pr.Number].Queued != pr.Head {
			t.Errorf("the queue has %q", st.Pulls[pr.Number].Queued)
		}
		st.Pulls[pr.Number].Queued = ""
	})
	var refused *forge.Failure
	if _, err := merge(); !errors.As(err, &refused) || refused.Kind != forge.Refused {
		t.Errorf("given back, it gives %v", err)
	}
	if _, err := merge(); !errors.Is(err, forge.ErrPending) {
		t.Errorf("queued again, it gives %v", err)
	}
	s.Commit("main", map[string]string{"other": "1"}) // another change is ahead of it
	s.MergeQueued(pr.Number)
	merged, err := merge()
	if err != nil || merged.State != forge.Merged || merged.MergeCommit != s.Head("main") {
		t.Errorf("merged as %+v, %v", merged, err)
	}
}
