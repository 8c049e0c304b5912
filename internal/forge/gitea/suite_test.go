package gitea_test

import (
	"context"
	"flag"
	"fmt"
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
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/hostedtest"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/store"
)

type candidateTest = func(context.Context, local.Candidate) (local.Verdict, error)

// open joins the driver, the git half and the hosted forge, as wire does.
func open(ctx context.Context, host process.Executor, client *http.Client, project string, at target, test candidateTest) (*hosted.Forge, error) {
	repo, err := git.Open(ctx, host, project)
	if err != nil {
		return nil, err
	}
	documents, err := store.Open(ctx, store.Config{Root: project})
	if err != nil {
		return nil, err
	}
	driver, err := at.driver(client)
	if err != nil {
		return nil, err
	}
	half := local.New(local.Config{Repo: repo, Store: documents, Test: test, Hosted: true})
	return hosted.New(hosted.Config{Server: driver, Git: half, Store: documents, Merge: hosted.Way(at.Way), WithoutCI: true, Statuses: true, Labels: true, Clock: time.Now}), nil
}

// sweep: each instant costs four pushes, and the instants of the git half alone are swept in package local. The same goes for the cases.
var sweep = flag.String("sweep", "sampled", `"all" runs the whole suite in both ways to merge, and kills at every instant; "sampled" what is most the server's`)

func every() int {
	if *sweep == "all" {
		return 1
	}
	return 10
}

func TestForge(t *testing.T) {
	t.Parallel()
	needsServer(t)
	exact := func(t *testing.T) forgetest.Harness { return newHarness(t, hosted.Exact) }
	guarded := func(t *testing.T) forgetest.Harness { return newHarness(t, hosted.Guarded) }
	t.Run("exact", func(t *testing.T) {
		t.Parallel()
		if *sweep == "all" {
			forgetest.Run(t, exact)
			return
		}
		forgetest.RunKeeping(t, exact)
		forgetest.RunMerging(t, exact, "exactly the tested tree", "made by hand", "merging survives kill -9", "a lost answer")
	})
	t.Run("guarded", func(t *testing.T) {
		t.Parallel()
		if *sweep == "all" {
			forgetest.RunMerging(t, guarded)
			return
		}
		forgetest.RunMerging(t, guarded, "a lost answer")
	})
}

func newHarness(t *testing.T, way hosted.Way) forgetest.Harness {
	t.Helper()
	at := newTarget(t)
	at.Way = string(way)
	h := forgetest.Harness{Project: newProject(t, at), Base: "main", Remote: "origin", Every: every()}
	var runs atomic.Int64
	h.Runs = func() int { return int(runs.Load()) }
	test := func(ctx context.Context, c local.Candidate) (local.Verdict, error) {
		runs.Add(1)
		files := runGit(t, h.Project, "ls-tree", "--name-only", c.Commit)
		return local.Verdict{Passed: !strings.Contains("\n"+files+"\n", "\n"+forgetest.FailingFile+"\n"), Command: "true"}, ctx.Err()
	}
	with := func(t *testing.T, at target) forge.Forge {
		f, err := open(t.Context(), process.Host{}, nil, h.Project, at, test)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	h.Open = func(t *testing.T) forge.Forge { return with(t, at) }
	h.Kill = func(t *testing.T, n int, operation forgetest.Operation) bool {
		return hostedtest.Kill(t, place{h.Project, at}, n, operation)
	}
	h.Lose = func(t *testing.T, n int, operation forgetest.Operation) bool {
		var changes atomic.Int64
		proxy, err := server.Lossy(func(*http.Request) bool { return changes.Add(1) == int64(n+1) })
		if err != nil {
			t.Fatal(err)
		}
		defer proxy.Close()
		through := at
		through.URL = proxy.URL
		err = operation.Perform(t.Context(), with(t, through))
		lost := changes.Load() > int64(n)
		if lost == (err == nil) {
			t.Errorf("with an answer lost: %v, the operation ends with %v", lost, err)
		}
		return lost
	}
	var opened struct{ Number int }
	at.call(t, http.MethodPost, "/issues", map[string]any{"title": "Fix it", "body": "Please."}, &opened)
	request, err := h.Open(t).Request(t.Context(), fmt.Sprint(opened.Number))
	if err != nil {
		t.Fatal(err)
	}
	h.Request = request
	h.Comments = func(t *testing.T) []string { return at.comments(t, request.Number) }
	h.Pulls = func(t *testing.T) int {
		var pulls []struct{ Number int }
		at.call(t, http.MethodGet, "/pulls?state=all", nil, &pulls)
		return len(pulls)
	}
	return h
}

// comments returns the comments without their first lines, which are markers.
func (at target) comments(t *testing.T, number int) (bodies []string) {
	t.Helper()
	var found []struct{ Body string }
	at.call(t, http.MethodGet, fmt.Sprintf("/issues/%d/comments", number), nil, &found)
	for _, c := range found {
		_, body, _ := strings.Cut(c.Body, "\n")
		bodies = append(bodies, body)
	}
	return bodies
}

// newProject is a clone of the repository.
func newProject(t *testing.T, at target) string {
	t.Helper()
	project := t.TempDir()
	runGit(t, project, "clone", "--quiet", "-c", "http."+at.URL+".extraHeader=Authorization: token "+at.Token, at.URL+"/"+bot+"/"+at.Name+".git", ".")
	if err := os.WriteFile(filepath.Join(project, ".git", "info", "exclude"), []byte(".signalbox/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return project
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A Person", "GIT_AUTHOR_EMAIL=person@example.org",
		"GIT_COMMITTER_NAME=A Person", "GIT_COMMITTER_EMAIL=person@example.org",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
