// Package hostedtest joins a driver with its stand-in, the git half and the hosted forge, as wire joins them, for the suite that every forge passes.
package hostedtest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/local"
	"signalbox/internal/forge/standin"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/store"
)

// Driver makes the driver of a server.
type Driver func(url string, over http.RoundTripper) (forge.Server, error)

// Server is a stand-in with one open issue, as the suite needs it.
type Server struct {
	URL string
	// Remote is the repository's address for git: over HTTP, or its folder. Token is the password of an account that may push.
	Remote, Token string
	// Fork is the path of the fork that branches are pushed to, and ForkRemote its address for git; empty if there is none.
	Fork, ForkRemote string
	// Inject adds a fault. The function ends it, and reports whether it happened.
	Inject func(standin.Fault) (end func() bool)
	// Issue is the number of the issue. Comments are the texts of its comments, with markers, and Pulls counts pull requests.
	Issue    string
	Comments func() []string
	Pulls    func() int
	CI       *forgetest.CI
}

// place is a project whose issues are on a stand-in.
type place struct {
	URL, Project, Fork, ForkRemote string
	Way                            hosted.Way
}

type candidateTest = func(context.Context, local.Candidate) (local.Verdict, error)

// open opens the forge as a process does that is configured so.
func (p place) open(ctx context.Context, host process.Executor, over http.RoundTripper, driver Driver, test candidateTest) (forge.Forge, error) {
	repo, err := git.Open(ctx, host, p.Project)
	if err != nil {
		return nil, err
	}
	documents, err := store.Open(ctx, store.Config{Root: p.Project})
	if err != nil {
		return nil, err
	}
	server, err := driver(p.URL, over)
	if err != nil {
		return nil, err
	}
	half := local.New(local.Config{Repo: repo, Store: documents, Test: test, Hosted: true, Forks: func(_ context.Context, path string) (string, error) {
		if path != p.Fork {
			return "", fmt.Errorf("there is no fork %q", path)
		}
		return p.ForkRemote, nil
	}})
	return hosted.New(hosted.Config{Server: server, Git: half, Store: documents, Merge: p.Way, Fork: p.Fork, WithoutCI: true, Statuses: true, Labels: true, Clock: time.Now}), nil
}

// Harness is a fresh project on a stand-in. It kills at every n-th instant.
func Harness(t *testing.T, driver Driver, s Server, way hosted.Way, every int) forgetest.Harness {
	t.Helper()
	p := place{s.URL, cloned(t, s), s.Fork, s.ForkRemote, way}
	var runs atomic.Int64
	h := forgetest.Harness{Project: p.Project, Remote: "origin", Branches: s.ForkRemote, Every: every, Base: "main", CI: s.CI, Runs: func() int { return int(runs.Load()) }}
	h.Open = func(t *testing.T) forge.Forge {
		t.Helper()
		opened, err := p.open(t.Context(), process.Host{}, http.DefaultTransport, driver, func(ctx context.Context, c local.Candidate) (local.Verdict, error) {
			runs.Add(1)
			files := Git(t, p.Project, "ls-tree", "--name-only", c.Commit)
			return local.Verdict{Passed: !strings.Contains("\n"+files+"\n", "\n"+forgetest.FailingFile+"\n"), Command: "true"}, ctx.Err()
		})
		if err != nil {
			t.Fatal(err)
		}
		return opened
	}
	h.Kill = func(t *testing.T, n int, operation forgetest.Operation) bool { return Kill(t, p, n, operation) }
	h.Lose = func(t *testing.T, n int, operation forgetest.Operation) bool {
		end := s.Inject(standin.Fault{Changes: true, Skip: n, Lose: true})
		err := operation.Perform(t.Context(), h.Open(t))
		lost := end()
		if !lost && err != nil {
			t.Fatalf("with no answer lost: %v", err)
		}
		return lost
	}
	request, err := h.Open(t).Request(t.Context(), s.Issue)
	if err != nil {
		t.Fatal(err)
	}
	h.Request = request
	h.Comments = func(*testing.T) (bodies []string) {
		for _, text := range s.Comments() {
			_, body, _ := strings.Cut(text, "\n")
			bodies = append(bodies, strings.TrimSpace(body))
		}
		return bodies
	}
	h.Pulls = func(*testing.T) int { return s.Pulls() }
	return h
}

// cloned is a clone whose configuration lets git push.
func cloned(t *testing.T, s Server) string {
	t.Helper()
	project := t.TempDir()
	Git(t, project, "init", "--quiet", "--initial-branch=main")
	Git(t, project, "config", "http.extraHeader", "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("x:"+s.Token)))
	Git(t, project, "remote", "add", "origin", s.Remote)
	Git(t, project, "pull", "--quiet", "origin", "main")
	return project
}

// Git runs git as a person and returns what it printed, trimmed.
func Git(t *testing.T, dir string, args ...string) string {
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
