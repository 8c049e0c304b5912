package github_test

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/budget"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/hostedtest"
)

func TestMain(m *testing.M) { hostedtest.Main(m, driverAt, githubtest.End) }

func driverAt(url string, over http.RoundTripper) (forge.Server, error) {
	c := counted(time.Now)
	c.Base = over
	return github.New(github.Config{
		URL: url, Owner: githubtest.Owner, Name: githubtest.Name, Token: token("ghp_ada"), Client: &http.Client{Transport: budget.New(c)}, Now: time.Now,
	})
}

// sweep: what changes on the server in all cases, and at all instants, takes a minute of CPU.
var sweep = flag.String("sweep", "sampled", `"all" runs the suite over HTTP, in both ways to merge, with kills at every instant; "sampled" one way, with some kills`)

func every() int {
	if *sweep == "all" {
		return 1
	}
	return 3
}

func TestForge(t *testing.T) {
	t.Parallel()
	if *sweep != "all" {
		forgetest.Run(t, func(t *testing.T) forgetest.Harness { return newHarness(t, hosted.Guarded, false) })
		return
	}
	for _, way := range []hosted.Way{hosted.Exact, hosted.Guarded} {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			forgetest.Run(t, func(t *testing.T) forgetest.Harness { return newHarness(t, way, true) })
		})
	}
}

// The suite's repositories are reached as folders, which takes half the time. Here is one that is pushed to as GitHub's are.
func TestAnExactMergeIsPushedOnceOverHTTP(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hosted.Exact, true)
	change := forge.PullRequest{Key: "run-1", Request: h.Request.ID, Title: "Change", Branch: "signalbox/1-a", Base: "main", Head: committed(t, h.Project)}
	if !h.Lose(t, 0, forgetest.Operation{Open: &change}) {
		t.Error("the answer to the push of the branch was not lost")
	}
	f := h.Open(t)
	pr := must(f.OpenPullRequest(t.Context(), change))(t)
	check := must(f.Checks(t.Context(), pr.Number))(t)
	merge := forgetest.Operation{Merge: &forgetest.Merge{Number: pr.Number, Checked: check, Message: "m"}}
	if !h.Lose(t, 0, merge) {
		t.Error("the answer to the push of the merge was not lost")
	}
	merged := must(h.Open(t).Merge(t.Context(), pr.Number, check, "m"))(t)
	remote := hostedtest.Git(t, h.Project, "ls-remote", "--heads", "origin")
	if merged.State != forge.Merged || remote != merged.MergeCommit+"\trefs/heads/main" || h.Pulls(t) != 1 {
		t.Errorf("merged as %+v, and the remote has %s", merged, remote)
	}
}

// committed returns a commit with one more file than HEAD has.
func committed(t *testing.T, project string) string {
	t.Helper()
	ok(t, os.WriteFile(filepath.Join(project, "a"), []byte("1"), 0o600))
	hostedtest.Git(t, project, "add", "a")
	made := hostedtest.Git(t, project, "commit-tree", hostedtest.Git(t, project, "write-tree"), "-p", "HEAD", "-m", "A change")
	hostedtest.Git(t, project, "rm", "--quiet", "-f", "a")
	return made
}

func newHarness(t *testing.T, way hosted.Way, overHTTP bool) forgetest.Harness {
	t.Helper()
	s := githubtest.New(t)
	server := served(t, s)
	if overHTTP {
		server.Remote = s.Remote()
	}
	return hostedtest.Harness(t, driverAt, server, way, every())
}

// served is a stand-in with an issue.
func served(t *testing.T, s *githubtest.Server) hostedtest.Server {
	t.Helper()
	number := s.Issue("Fix it", "Please.")
	server := hostedtest.Server{URL: s.URL, Remote: s.Repository, Token: "ghp_ada", Inject: s.Inject, Issue: strconv.Itoa(number)}
	server.Comments = func() (texts []string) {
		s.With(func(st *githubtest.State) {
			for _, c := range st.Comments {
				if c.Number == number {
					texts = append(texts, c.Body)
				}
			}
		})
		return texts
	}
	server.Pulls = func() (count int) {
		s.With(func(st *githubtest.State) { count = len(st.Pulls) })
		return count
	}
	// The jobs are of one run, as those of a workflow are.
	run := int64(0)
	server.CI = &forgetest.CI{
		Fail: func(commit, name string) {
			id := s.Job(commit, name, "failure", githubtest.Job{Run: run})
			s.With(func(st *githubtest.State) { run = st.Jobs[id].Run })
		},
		End: func(name string, passed bool) {
			s.EndJob(name, map[bool]string{true: "success", false: "failure"}[passed])
		},
		Starts: func(name string) (count int) {
			s.With(func(st *githubtest.State) {
				for _, r := range st.CheckRuns {
					if r.Name == name {
						count++
					}
				}
			})
			return count
		},
	}
	return server
}
