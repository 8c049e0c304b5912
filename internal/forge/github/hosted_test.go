package github_test

import (
	"context"
	"encoding/base64"
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/store"
)

// place is a project whose issues are on a stand-in.
type place struct {
	URL, Project string
	Way          hosted.Way
}

// open opens the forge as a process does that is configured so.
func (p place) open(ctx context.Context, host process.Executor, over http.RoundTripper, test func(context.Context, local.Candidate) (local.Verdict, error)) (forge.Forge, error) {
	repo, err := git.Open(ctx, host, p.Project)
	if err != nil {
		return nil, err
	}
	documents, err := store.Open(ctx, store.Config{Root: p.Project})
	if err != nil {
		return nil, err
	}
	server, err := github.New(github.Config{
		URL: p.URL, Owner: githubtest.Owner, Name: githubtest.Name, Token: token("ghp_ada"), Client: &http.Client{Transport: over}, Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	half := local.New(local.Config{Repo: repo, Store: documents, Test: test, Hosted: true})
	return hosted.New(hosted.Config{Server: server, Git: half, Store: documents, Merge: p.Way, WithoutCI: true, Clock: time.Now}), nil
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
	remote := gitIn(t, h.Project, "ls-remote", "--heads", "origin")
	if merged.State != forge.Merged || remote != merged.MergeCommit+"\trefs/heads/main" || h.Pulls(t) != 1 {
		t.Errorf("merged as %+v, and the remote has %s", merged, remote)
	}
}

// committed returns a commit with one more file than HEAD has.
func committed(t *testing.T, project string) string {
	t.Helper()
	ok(t, os.WriteFile(filepath.Join(project, "a"), []byte("1"), 0o600))
	gitIn(t, project, "add", "a")
	made := gitIn(t, project, "commit-tree", gitIn(t, project, "write-tree"), "-p", "HEAD", "-m", "A change")
	gitIn(t, project, "rm", "--quiet", "-f", "a")
	return made
}

func newHarness(t *testing.T, way hosted.Way, overHTTP bool) forgetest.Harness {
	t.Helper()
	s := githubtest.New(t)
	number := s.Issue("Fix it", "Please.")
	remote := s.Repository
	if overHTTP {
		remote = s.Remote()
	}
	p := place{s.URL, cloned(t, remote), way}
	var runs atomic.Int64
	h := forgetest.Harness{Project: p.Project, Remote: "origin", Every: every(), Base: "main", Runs: func() int { return int(runs.Load()) }}
	h.Open = func(t *testing.T) forge.Forge {
		return must(p.open(t.Context(), process.Host{}, http.DefaultTransport, func(ctx context.Context, c local.Candidate) (local.Verdict, error) {
			runs.Add(1)
			files := gitIn(t, p.Project, "ls-tree", "--name-only", c.Commit)
			return local.Verdict{Passed: !strings.Contains("\n"+files+"\n", "\n"+forgetest.FailingFile+"\n"), Command: "true"}, ctx.Err()
		}))(t)
	}
	h.Kill = func(t *testing.T, n int, operation forgetest.Operation) bool { return kill(t, p, n, operation) }
	h.Lose = func(t *testing.T, n int, operation forgetest.Operation) bool {
		end := s.Inject(githubtest.Fault{Changes: true, Skip: n, Lose: true})
		err := operation.Perform(t.Context(), h.Open(t))
		lost := end()
		if !lost && err != nil {
			t.Fatalf("with no answer lost: %v", err)
		}
		return lost
	}
	h.Request = must(h.Open(t).Request(t.Context(), "#1"))(t)
	h.Comments = func(t *testing.T) (bodies []string) {
		s.With(func(st *githubtest.State) {
			for _, c := range st.Comments {
				if c.Number == number {
					_, body, _ := strings.Cut(c.Body, "\n")
					bodies = append(bodies, strings.TrimSpace(body))
				}
			}
		})
		return bodies
	}
	h.Pulls = func(*testing.T) (count int) {
		s.With(func(st *githubtest.State) { count = len(st.Pulls) })
		return count
	}
	return h
}

// cloned is a clone whose configuration lets git push.
func cloned(t *testing.T, remote string) string {
	t.Helper()
	project := t.TempDir()
	gitIn(t, project, "init", "--quiet", "--initial-branch=main")
	gitIn(t, project, "config", "http.extraHeader", "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("x:ghp_ada")))
	gitIn(t, project, "remote", "add", "origin", remote)
	gitIn(t, project, "pull", "--quiet", "origin", "main")
	return project
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A Person", "GIT_AUTHOR_EMAIL=person@example.org",
		"GIT_COMMITTER_NAME=A Person", "GIT_COMMITTER_EMAIL=person@example.org",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
