package gitlab_test

import (
	"context"
	"flag"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/budget"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/gitlab"
	"signalbox/internal/forge/gitlab/gitlabtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/hostedtest"
	"signalbox/internal/forge/rest"
)

func TestMain(m *testing.M) { hostedtest.Main(m, driverAt, gitlabtest.End) }

func driverAt(url string, over http.RoundTripper) (forge.Server, error) {
	calls := budget.New(budget.Config{Base: over, Kind: rest.Kind, Now: time.Now})
	return gitlab.New(gitlab.Config{URL: url, Path: gitlabtest.Path, Token: token("glpat-ada"), Client: &http.Client{Transport: calls}, Now: time.Now})
}

func token(text string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return text, nil }
}

// sweep: what is most GitLab's is sampled by default. The rest of the suite is the same for every server, and GitHub's stand-in runs all of it.
var sweep = flag.String("sweep", "sampled", `"all" runs the suite over HTTP, in both ways to merge, with kills at every instant; "sampled" what is most GitLab's`)

func TestForge(t *testing.T) {
	t.Parallel()
	if *sweep != "all" {
		guarded := func(t *testing.T) forgetest.Harness { return newHarness(t, hosted.Guarded, false, 7) }
		forgetest.RunKeeping(t, guarded)
		forgetest.RunMerging(t, guarded, "exactly the tested tree", "made by hand", "head that moved", "merging survives kill -9", "a lost answer")
		return
	}
	for _, way := range []hosted.Way{hosted.Exact, hosted.Guarded} {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			forgetest.Run(t, func(t *testing.T) forgetest.Harness { return newHarness(t, way, true, 1) })
		})
	}
}

func TestForgeFromAFork(t *testing.T) {
	t.Parallel()
	harness := func(t *testing.T) forgetest.Harness {
		s := gitlabtest.New(t)
		server := served(t, s, s.Repository)
		server.Fork, server.ForkRemote = "ada/engine", s.Fork(gitlabtest.Person, "engine").Repository
		return hostedtest.Harness(t, driverAt, server, hosted.Guarded, 7)
	}
	forgetest.RunKeeping(t, harness, "a lost answer opens no second pull request")
	forgetest.RunMerging(t, harness, "a lost answer makes no second merge")
}

// The first merge request has the number of the first issue. Their comments are kept apart, here and in what this machine records.
func TestAnExactMergeOverHTTPKeepsTheIssueApartFromTheMergeRequestOfItsNumber(t *testing.T) {
	t.Parallel()
	s := gitlabtest.NewBelow(t, "/gitlab")
	h := harness(t, s, driverAt, hosted.Exact, s.Remote(), 1)
	f := h.Open(t)
	change := forge.PullRequest{Key: "run-1", Request: h.Request.ID, Title: "Change", Branch: "signalbox/1-a", Base: "main", Head: s.Commit("elsewhere", map[string]string{"a": "1"})}
	hostedtest.Git(t, h.Project, "fetch", "--quiet", "origin", "elsewhere")
	if !h.Lose(t, 0, forgetest.Operation{Open: &change}) {
		t.Error("the answer to the push of the branch was not lost")
	}
	pr := must(f.OpenPullRequest(t.Context(), change))(t)
	if pr.Number != h.Request.Number {
		t.Fatalf("the merge request has number %d, and the issue %d", pr.Number, h.Request.Number)
	}
	check := must(f.Checks(t.Context(), pr.Number))(t)
	merged := must(f.Merge(t.Context(), pr.Number, check, "m"))(t)
	ok(t, f.CloseRequest(t.Context(), h.Request, merged.MergeCommit))
	if merged.State != forge.Merged || s.Head("main") != merged.MergeCommit || s.Head(change.Branch) != "" || h.Pulls(t) != 1 {
		t.Errorf("merged as %+v; main is at %s, and the branch at %q", merged, s.Head("main"), s.Head(change.Branch))
	}
	s.With(func(st *gitlabtest.State) {
		if m := st.Merges[1]; m.State != "merged" || m.Merge != merged.MergeCommit || !st.Issues[1].Closed || len(st.Notes) != 0 {
			t.Errorf("GitLab has %+v, %+v and %d notes", m, st.Issues[1], len(st.Notes))
		}
	})
}

// blind is a server that doesn't notice merges that are pushed.
type blind struct{ *gitlab.Server }

func (b blind) Repository(ctx context.Context) (forge.Repository, error) {
	r, err := b.Server.Repository(ctx)
	r.SeesPushes = false
	return r, err
}

// A merge that isn't noticed is told on the merge request. What is recorded about the issue of the same number is another comment.
func TestAMergeThatIsNotNoticedIsToldOnTheMergeRequest(t *testing.T) {
	t.Parallel()
	s := gitlabtest.New(t)
	s.With(func(st *gitlabtest.State) { st.Unnoticed = true })
	h := harness(t, s, func(url string, over http.RoundTripper) (forge.Server, error) {
		driver, err := driverAt(url, over)
		if err != nil {
			return nil, err
		}
		return blind{driver.(*gitlab.Server)}, nil
	}, hosted.Exact, s.Repository, 1)
	f := h.Open(t)
	change := forge.PullRequest{Key: "run-1", Request: h.Request.ID, Title: "Change", Branch: "signalbox/1-a", Base: "main", Head: s.Commit("elsewhere", map[string]string{"a": "1"})}
	hostedtest.Git(t, h.Project, "fetch", "--quiet", "origin", "elsewhere")
	pr := must(f.OpenPullRequest(t.Context(), change))(t)
	check := must(f.Checks(t.Context(), pr.Number))(t)
	merged := must(f.Merge(t.Context(), pr.Number, check, "m"))(t)
	says := "Merged as " + merged.MergeCommit + "."
	ok(t, f.Comment(t.Context(), h.Request, "signalbox/merged", says))
	s.With(func(st *gitlabtest.State) {
		if len(st.Notes) != 2 || !st.Notes[0].Pull || st.Notes[1].Pull || !strings.HasSuffix(st.Notes[0].Body, says) || !strings.HasSuffix(st.Notes[1].Body, says) || st.Merges[1].State != "closed" {
			t.Errorf("the merge request is %s, and the notes are %+v", st.Merges[1].State, st.Notes)
		}
	})
}

// Without its subject, a number would name the other one.
func TestNotesAndLabelsOfAnIssueAndAMergeRequestOfOneNumberAreApart(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	s.Issue("Fix it", "")
	s.Commit("topic", map[string]string{"a": "1"})
	p := must(driver.Propose(t.Context(), forge.Proposal{Title: "t", Branch: "topic", Base: "main"}))(t)
	for _, on := range []forge.Subject{forge.OnIssue(1), forge.OnPull(p.Number)} {
		made := must(driver.CreateRemark(t.Context(), on, "about "+on.String()))(t)
		ok(t, driver.EditRemark(t.Context(), on, made.ID, "edited on "+on.String()))
		found := must(driver.Remarks(t.Context(), on))(t)
		if len(found) != 1 || found[0].Body != "edited on "+on.String() || found[0].On != on || !strings.HasPrefix(found[0].Page, s.URL+"/"+gitlabtest.Path+"/-/") || !found[0].Edited {
			t.Errorf("on %s are %+v", on, found)
		}
		ok(t, driver.Label(t.Context(), on, []string{on.String()}, nil))
	}
	s.With(func(st *gitlabtest.State) {
		if strings.Join(st.Issues[1].Labels, "|") != "issue 1" || strings.Join(st.Merges[1].Labels, "|") != "pull request 1" {
			t.Errorf("labels are %q and %q", st.Issues[1].Labels, st.Merges[1].Labels)
		}
	})
}

func newHarness(t *testing.T, way hosted.Way, overHTTP bool, every int) forgetest.Harness {
	t.Helper()
	s := gitlabtest.New(t)
	if overHTTP {
		return harness(t, s, driverAt, way, s.Remote(), every)
	}
	return harness(t, s, driverAt, way, s.Repository, every)
}

func harness(t *testing.T, s *gitlabtest.Server, driver hostedtest.Driver, way hosted.Way, remote string, every int) forgetest.Harness {
	t.Helper()
	return hostedtest.Harness(t, driver, served(t, s, remote), way, every)
}

// served is a stand-in with an issue.
func served(t *testing.T, s *gitlabtest.Server, remote string) hostedtest.Server {
	t.Helper()
	number := s.Issue("Fix it", "Please.")
	server := hostedtest.Server{URL: s.URL, Remote: remote, Token: "glpat-ada", Inject: s.Inject, Issue: strconv.Itoa(number)}
	server.Comments = func() (texts []string) {
		s.With(func(st *gitlabtest.State) {
			for _, n := range st.Notes {
				if !n.Pull && n.Number == number {
					texts = append(texts, n.Body)
				}
			}
		})
		return texts
	}
	server.Pulls = func() (count int) {
		s.With(func(st *gitlabtest.State) { count = len(st.Merges) })
		return count
	}
	jobs := func(name string) (all []*gitlabtest.Status) {
		s.With(func(st *gitlabtest.State) {
			for _, job := range st.Statuses {
				if job.Name == name {
					all = append(all, job)
				}
			}
		})
		return all
	}
	server.CI = &forgetest.CI{
		Fail: func(commit, name string) {
			s.Job(gitlabtest.Status{SHA: commit, Name: name, State: "failed", Pipeline: 1})
		},
		End: func(name string, passed bool) {
			all := jobs(name)
			s.With(func(*gitlabtest.State) {
				all[len(all)-1].State = map[bool]string{true: "success", false: "failed"}[passed]
			})
		},
		Starts: func(name string) int { return len(jobs(name)) },
	}
	return server
}

func start(t *testing.T) (*gitlabtest.Server, *gitlab.Server) {
	t.Helper()
	s := gitlabtest.New(t)
	return s, open(t, s, "glpat-ada", gitlab.PrivateToken)
}

func open(t *testing.T, s *gitlabtest.Server, text string, shown gitlab.Shown) *gitlab.Server {
	t.Helper()
	driver, _ := openCounted(t, s, text, shown)
	return driver
}

// openCounted opens the driver above its budget, as wire does.
func openCounted(t *testing.T, s *gitlabtest.Server, text string, shown gitlab.Shown) (*gitlab.Server, *budget.Transport) {
	t.Helper()
	now := func() (now time.Time) {
		s.With(func(st *gitlabtest.State) { now = st.Now })
		return now
	}
	calls := budget.New(budget.Config{Kind: rest.Kind, Now: now})
	return must(gitlab.New(gitlab.Config{URL: s.URL, Path: gitlabtest.Path, Token: token(text), Shown: shown, Client: &http.Client{Transport: calls}, Now: now}))(t), calls
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		ok(t, err)
		return value
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
