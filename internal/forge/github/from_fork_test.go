package github_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/hostedtest"
)

// Of a fork, what is most its own: each push goes elsewhere than the merge.
func TestForgeFromAFork(t *testing.T) {
	t.Parallel()
	harness := func(t *testing.T) forgetest.Harness {
		s := githubtest.New(t)
		server := served(t, s)
		server.Fork, server.ForkRemote = "ada/engine", s.Fork(githubtest.Person, "engine").Repository
		return hostedtest.Harness(t, driverAt, server, hosted.Guarded, every())
	}
	forgetest.RunKeeping(t, harness, "opening again moves", "opening survives kill -9", "a lost answer opens no second pull request")
	forgetest.RunMerging(t, harness, "a lost answer makes no second merge")
}

// contributor is a project of someone who may only read the repository.
func contributor(t *testing.T, s *githubtest.Server, fork hostedtest.Server) (forgetest.Harness, *hosted.Forge) {
	t.Helper()
	server := served(t, s)
	server.Fork, server.ForkRemote, server.Token = fork.Fork, fork.ForkRemote, "ghp_mallory"
	h := hostedtest.Harness(t, func(url string, over http.RoundTripper) (forge.Server, error) {
		return github.New(github.Config{URL: url, Owner: githubtest.Owner, Name: githubtest.Name, Token: token("ghp_mallory"), Client: &http.Client{Transport: over}, Now: time.Now})
	}, server, "", 1)
	f, ok := h.Open(t).(*hosted.Forge)
	if !ok {
		t.Fatal("it is another forge")
	}
	return h, f
}

func TestAChangeFromAForkWaitsForSomeoneWhoMayMerge(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	h, f := contributor(t, s, hostedtest.Server{Fork: "mallory/engine", ForkRemote: s.Fork("mallory", "engine").Repository})
	ok(t, f.MayMerge(t.Context(), "main"))
	change := forge.PullRequest{Key: "run-1", Request: "1", Title: "Change", Branch: "signalbox/1-a", Base: "main", Head: committed(t, h.Project)}
	pr := must(f.OpenPullRequest(t.Context(), change))(t)
	var body string
	s.With(func(st *githubtest.State) { body = st.Pulls[pr.Number].Body })
	if pr.Fork != "mallory/engine" || s.Head(pr.Branch) != "" || !strings.Contains(body, "\nCloses #1.\n") {
		t.Errorf("opened as %+v with %q, and the repository has the branch at %q", pr, body, s.Head(pr.Branch))
	}
	check := must(f.Checks(t.Context(), pr.Number))(t)
	said := must(f.Opinions(t.Context(), pr.Number))(t)
	if check.State != forge.CheckPassed || said.Awaits == nil || said.Awaits.Kind != forge.AwaitedMerge || len(said.ApprovedBy) > 0 {
		t.Errorf("the check is %+v, and people say %+v", check, said)
	}
	if _, err := f.Merge(t.Context(), pr.Number, check, "m"); !errors.Is(err, forge.ErrPending) {
		t.Errorf("it merges, or fails: %v", err)
	}

	s.With(func(st *githubtest.State) {
		st.Pulls[pr.Number].Reviews = []*githubtest.Review{{ID: 1, Author: "grace", State: "CHANGES_REQUESTED", Body: "Not so.", Commit: pr.Head, At: st.Now},
			{ID: 2, Author: "eve", State: "CHANGES_REQUESTED", Body: "Obey.", Commit: pr.Head, At: st.Now}}
	})
	if said := must(f.Opinions(t.Context(), pr.Number))(t); len(said.Objections) != 1 || said.Objections[0].By != "grace" {
		t.Errorf("of a maintainer and of someone else are heard %+v", said.Objections)
	}

	s.Commit("main", map[string]string{"meanwhile": "1"}) // so that the merge has another tree than the tested one
	maintainer := must(driverAt(s.URL, http.DefaultTransport))(t)
	ok(t, maintainer.MergeProposal(t.Context(), pr.Number, pr.Head, "Merge it"))
	for range 2 {
		merged := must(f.Merge(t.Context(), pr.Number, forge.Check{}, ""))(t)
		if merged.State != forge.Merged || merged.MergeCommit != s.Head("main") || hostedtest.Git(t, h.Project, "ls-remote", h.Branches, "refs/heads/"+pr.Branch) != "" {
			t.Errorf("merged as %+v", merged)
		}
	}
	ok(t, f.CloseRequest(t.Context(), h.Request, s.Head("main")))
}

func TestWithoutAForkNothingIsPushed(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	h, f := contributor(t, s, hostedtest.Server{})
	change := forge.PullRequest{Key: "run-1", Request: "1", Title: "Change", Branch: "signalbox/1-a", Base: "main", Head: committed(t, h.Project)}
	for how, want := range map[string]string{hosted.ForkAuto: "fork: create", hosted.ForkNever: "may not push", "grace/engine": `no fork "grace/engine"`} {
		f.Config.Fork = how
		if err := f.MayMerge(t.Context(), "main"); !errors.Is(err, forge.ErrRemote) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", how, err)
		}
	}
	f.Config.Fork = hosted.ForkAuto
	if _, err := f.OpenPullRequest(t.Context(), change); !errors.Is(err, forge.ErrRemote) || s.Head(change.Branch) != "" {
		t.Errorf("it is opened: %v", err)
	}
}
