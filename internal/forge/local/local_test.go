package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/hostedtest"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/store"
)

func open(ctx context.Context, host process.Executor, project string, test func(context.Context, local.Candidate) (local.Verdict, error)) (*local.Forge, error) {
	repo, err := git.Open(ctx, host, project)
	if err != nil {
		return nil, err
	}
	documents, err := store.Open(ctx, store.Config{Root: project})
	if err != nil {
		return nil, err
	}
	return local.New(local.Config{Repo: repo, Store: documents, Test: test}), nil
}

func TestMain(m *testing.M) {
	hostedtest.MainIn(m.Run, func(ctx context.Context, project string, i *hostedtest.Instants) (forge.Forge, error) {
		return open(ctx, i.Host(hostedtest.Changes), project, hostedtest.NoTests)
	})
}

func TestForge(t *testing.T) {
	t.Parallel()
	for name, withRemote := range map[string]bool{"with a remote": true, "without a remote": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forgetest.Run(t, func(t *testing.T) forgetest.Harness { return newHarness(t, withRemote) })
		})
	}
}

func newHarness(t *testing.T, withRemote bool) forgetest.Harness {
	t.Helper()
	h := forgetest.Harness{Project: newProject(t), Base: "main"}
	if withRemote {
		h.Remote = filepath.Join(t.TempDir(), "origin.git")
		bare, err := fs.Sub(begun.project, ".git")
		if err = errors.Join(err, os.CopyFS(h.Remote, bare), appendTo(filepath.Join(h.Remote, "config"), "[core]\n\tbare = true\n"),
			appendTo(filepath.Join(h.Project, ".git", "config"), "[remote \"origin\"]\n\turl = "+h.Remote+"\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n")); err != nil {
			t.Fatal(err)
		}
	}
	var runs atomic.Int64
	h.Runs = func() int { return int(runs.Load()) }
	h.Open = func(t *testing.T) forge.Forge {
		return openProject(t, h.Project, func(ctx context.Context, c local.Candidate) (local.Verdict, error) {
			runs.Add(1)
			return verdict(ctx, t, h.Project, c)
		})
	}
	h.Kill = func(t *testing.T, n int, operation forgetest.Operation) bool {
		return hostedtest.Kill(t, h.Project, n, operation)
	}
	request, err := h.Open(t).Request(t.Context(), "RQ-20261120-007")
	if err != nil {
		t.Fatal(err)
	}
	h.Request = request
	h.Comments = func(t *testing.T) []string { return comments(t, h.Project, request.Number) }
	return h
}

func openProject(t *testing.T, project string, test func(context.Context, local.Candidate) (local.Verdict, error)) *local.Forge {
	t.Helper()
	f, err := open(t.Context(), process.Host{}, project, test)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// begun is the project of which the others are copies: making one takes git six programs, and its remote as many.
var begun struct {
	sync.Once
	project fs.FS
}

// newProject is a repository with one request, committed on main.
func newProject(t *testing.T) string {
	t.Helper()
	project := t.TempDir()
	begun.Do(func() {
		first := t.TempDir()
		writeFile(t, filepath.Join(first, "requests", "007.md"), "---\nid: RQ-20261120-007\ntitle: Fix it\n---\nPlease.\n")
		runGit(t, first, "init", "--quiet", "--template=", "--initial-branch=main")
		writeFile(t, filepath.Join(first, ".gitignore"), ".signalbox/\n")
		runGit(t, first, "add", ".")
		runGit(t, first, "commit", "--quiet", "-m", "First")
		begun.project = forgetest.InMemory(t, first)
	})
	if err := os.CopyFS(project, begun.project); err != nil {
		t.Fatal(err)
	}
	return project
}

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// verdict looks at the candidate itself, as tests in a clone of it would.
func verdict(ctx context.Context, t *testing.T, project string, c local.Candidate) (local.Verdict, error) {
	t.Helper()
	if got, want := runGit(t, project, "log", "-1", "--format=%T %P", c.Commit), c.Tree+" "+c.Base+" "+c.Head; got != want {
		t.Errorf("the candidate's commit has tree and parents %s, want %s", got, want)
	}
	files := runGit(t, project, "ls-tree", "--name-only", c.Commit)
	passed := !strings.Contains("\n"+files+"\n", "\n"+forgetest.FailingFile+"\n")
	return local.Verdict{Passed: passed, Command: "true"}, ctx.Err()
}

func comments(t *testing.T, project string, number int) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(project, ".signalbox", "requests", strconv.Itoa(number)+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var record struct{ Comments []struct{ Body string } }
	if err := json.Unmarshal(data, &record); err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for _, c := range record.Comments {
		bodies = append(bodies, c.Body)
	}
	return bodies
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TEMPLATE_DIR=", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false", // no sample hooks, and no second program after each commit
		"GIT_AUTHOR_NAME=A Person", "GIT_AUTHOR_EMAIL=person@example.org",
		"GIT_COMMITTER_NAME=A Person", "GIT_COMMITTER_EMAIL=person@example.org",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
