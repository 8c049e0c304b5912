package github_test

import (
	"strings"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/hostedtest"
)

func TestReviewersAreAskedOnceWhenAChangeIsReady(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	s.Commit("main", map[string]string{".github/CODEOWNERS": "* @everyone\n/a @grace @octo-org/`team` octo@example.org\n[x](javascript:1) @evil\n"})
	h := hostedtest.Harness(t, driverAt, served(t, s), hosted.Exact, 1)
	opened := func() *hosted.Forge {
		f := h.Open(t).(*hosted.Forge)
		f.Reviewers = []string{"grace", "ADA", "octo-org/engineers"}
		return f
	}
	change := forge.PullRequest{Key: "run-1", Request: "1", Title: "Change", Body: "What it does.", Branch: "signalbox/1-a", Base: "main", Head: committed(t, h.Project)}
	asked := func() (who, body string) {
		s.With(func(st *githubtest.State) {
			for _, p := range st.Pulls {
				who, body = strings.Join(p.Asked, " "), p.Body
			}
		})
		return who, body
	}
	change.Draft = true
	must(opened().OpenPullRequest(t.Context(), change))(t)
	if who, body := asked(); who != "" || !strings.Contains(body, "\nOwners of the changed files (CODEOWNERS): `grace`, `octo@example.org`.\n\nWhat it does.") {
		t.Errorf("of a draft are asked %q, and it says %q", who, body)
	}
	change.Draft = false
	for n := range 3 { // an answer is lost, then both have reviewed or gone
		end := s.Inject(githubtest.Fault{Changes: true, Path: "/requested_reviewers", Lose: n == 0, Times: 1})
		_ = forgetest.Operation{Open: &change}.Perform(t.Context(), opened())
		end()
		if who, _ := asked(); n == 1 && who != "grace /engineers" {
			t.Errorf("the %d. time are asked %q", n+1, who)
		}
		if n == 1 {
			s.With(func(st *githubtest.State) {
				for _, p := range st.Pulls {
					p.Asked = nil
				}
			})
		}
	}
	if who, _ := asked(); who != "" {
		t.Errorf("they are asked again: %q", who)
	}
}

// Whom the forge doesn't let be asked stops no run.
func TestReviewersThatTheForgeRefusesStopNothing(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	h := hostedtest.Harness(t, driverAt, served(t, s), hosted.Exact, 1)
	f := h.Open(t).(*hosted.Forge)
	f.Reviewers = []string{"stranger", "grace"}
	change := forge.PullRequest{Key: "run-1", Request: "1", Title: "Change", Branch: "signalbox/1-a", Base: "main", Head: committed(t, h.Project)}
	pr := must(f.OpenPullRequest(t.Context(), change))(t)
	s.With(func(st *githubtest.State) {
		if asked := st.Pulls[pr.Number].Asked; len(asked) != 1 || asked[0] != "grace" {
			t.Errorf("asked are %q", asked)
		}
	})
}
