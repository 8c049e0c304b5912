package forgetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
)

// project is a harness plus the actions of a person who works in it.
type project struct {
	Harness
	forge forge.Forge
	fresh func(*testing.T) *project
}

func newProject(t *testing.T, newHarness func(*testing.T) Harness) *project {
	t.Helper()
	h := newHarness(t)
	return &project{Harness: h, forge: h.Open(t), fresh: func(t *testing.T) *project { return newProject(t, newHarness) }}
}

// git runs git in the project's checkout and returns what it printed, trimmed.
func (p *project) git(t *testing.T, args ...string) string {
	t.Helper()
	return gitIn(t, p.Project, nil, args...)
}

func gitIn(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_TEMPLATE_DIR=", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false", // no sample hooks, and no second program after each commit
		"GIT_AUTHOR_NAME=A Person", "GIT_AUTHOR_EMAIL=person@example.org",
		"GIT_COMMITTER_NAME=A Person", "GIT_COMMITTER_EMAIL=person@example.org",
	}, env...)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		stderr := ""
		if errors.As(err, &exit) {
			stderr = string(exit.Stderr)
		}
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr)
	}
	return strings.TrimSpace(string(out))
}

func (p *project) baseCommit(t *testing.T) string {
	t.Helper()
	return p.git(t, "rev-parse", "refs/heads/"+p.Base)
}

// commit makes a commit on parent with these files added or replaced. It moves no ref.
func (p *project) commit(t *testing.T, parent string, files map[string]string) string {
	t.Helper()
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")}
	gitIn(t, p.Project, index, "read-tree", parent)
	for name, content := range files {
		source := filepath.Join(t.TempDir(), "content")
		if err := os.WriteFile(source, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		blob := p.git(t, "hash-object", "-w", source)
		gitIn(t, p.Project, index, "update-index", "--add", "--cacheinfo", "100644,"+blob+","+name)
	}
	tree := gitIn(t, p.Project, index, "write-tree")
	return p.git(t, "commit-tree", tree, "-p", parent, "-m", "A change")
}

// commitOnBase commits in the checkout, as a person does.
func (p *project) commitOnBase(t *testing.T, name, content string) string {
	t.Helper()
	p.write(t, name, content)
	p.git(t, "add", "--", name)
	p.git(t, "commit", "--quiet", "-m", "A commit by hand")
	if p.Remote != "" {
		p.git(t, "push", "--quiet", p.Remote, p.Base)
	}
	return p.baseCommit(t)
}

func (p *project) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.Project, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// change returns a pull request, not opened yet, that sets these files.
func (p *project) change(t *testing.T, n int, files map[string]string) forge.PullRequest {
	t.Helper()
	return forge.PullRequest{
		Key: fmt.Sprintf("run-%d", n), Request: p.Request.ID, Title: fmt.Sprintf("Change %d", n), Body: "What it does",
		Branch: fmt.Sprintf("signalbox/%d-a-change", n), Base: p.Base, Head: p.commit(t, p.baseCommit(t), files),
	}
}

func (p *project) open(t *testing.T, change forge.PullRequest) forge.PullRequest {
	t.Helper()
	pr, err := p.forge.OpenPullRequest(t.Context(), change)
	if err != nil {
		t.Fatalf("open pull request: %v", err)
	}
	return pr
}

// passed opens the change and has it checked.
func (p *project) passed(t *testing.T, change forge.PullRequest) (forge.PullRequest, forge.Check) {
	t.Helper()
	pr := p.open(t, change)
	return pr, p.check(t, pr)
}

// check requires the pull request's checks to pass.
func (p *project) check(t *testing.T, pr forge.PullRequest) forge.Check {
	t.Helper()
	check, err := eventually(t.Context(), func() (forge.Check, error) { return p.forge.Checks(t.Context(), pr.Number) })
	if err != nil || check.State != forge.CheckPassed {
		t.Fatalf("check pull request: %+v, %v", check, err)
	}
	return check
}

func (p *project) merge(t *testing.T, pr forge.PullRequest, check forge.Check) forge.PullRequest {
	t.Helper()
	merged, err := mergeNow(t.Context(), p.forge, pr.Number, check, "m")
	if err != nil {
		t.Fatal(err)
	}
	return merged
}

// mergeNow merges as soon as a server lets it.
func mergeNow(ctx context.Context, f forge.Forge, number int, check forge.Check, message string) (forge.PullRequest, error) {
	return eventually(ctx, func() (forge.PullRequest, error) { return f.Merge(ctx, number, check, message) })
}

// eventually asks until nothing is waited for. A server computes for a moment whether a pull request can be merged.
func eventually[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := ask()
		if !errors.Is(err, forge.ErrPending) {
			return got, err
		}
		select {
		case <-ctx.Done():
			return got, err
		case <-tick.C:
		}
	}
}

// snapshot returns everything that a refused merge must not change.
func (p *project) snapshot(t *testing.T) string {
	t.Helper()
	parts := []string{p.git(t, "for-each-ref"), p.git(t, "status", "--porcelain"), p.git(t, "diff", "HEAD")}
	if p.Remote != "" {
		parts = append(parts, p.git(t, "ls-remote", "--heads", "--tags", p.Remote))
	}
	return strings.Join(parts, "\n---\n")
}

// wantUntouched requires that nothing differs from before.
func (p *project) wantUntouched(t *testing.T, before string) {
	t.Helper()
	if p.snapshot(t) != before {
		t.Error("the refused merge changed something")
	}
}

func (p *project) wantMerged(t *testing.T, pr forge.PullRequest, check forge.Check) {
	t.Helper()
	tip := p.baseCommit(t)
	if pr.State != forge.Merged || pr.MergeCommit != tip || pr.MergedAt == nil {
		t.Errorf("pull request is %+v, want it merged by %s", pr, tip)
	}
	if got, want := p.git(t, "log", "-1", "--format=%T %P", tip), check.Tree+" "+check.Base+" "+check.Head; got != want {
		t.Errorf("merge commit has tree and parents %s, want %s", got, want)
	}
	p.wantFollowed(t)
}

// wantFollowed requires that the checkout and the remote are at the base branch's commit.
func (p *project) wantFollowed(t *testing.T) {
	t.Helper()
	if status := p.git(t, "status", "--porcelain"); status != "" {
		t.Errorf("the checkout does not follow its branch:\n%s", status)
	}
	if p.Remote == "" {
		return
	}
	if got := p.remoteBranch(t, p.Base); got != p.baseCommit(t) {
		t.Errorf("the remote's %s is at %s, want %s", p.Base, got, p.baseCommit(t))
	}
}

// remoteBranch returns the commit of a branch on the remote; empty if there is none.
func (p *project) remoteBranch(t *testing.T, branch string) string {
	t.Helper()
	id, _, _ := strings.Cut(p.git(t, "ls-remote", p.Remote, "refs/heads/"+branch), "\t")
	return id
}

// pushedBranch returns the commit of a pull request's branch where it is pushed to; empty if it is not there.
func (p *project) pushedBranch(t *testing.T, branch string) string {
	t.Helper()
	id, _, _ := strings.Cut(p.git(t, "ls-remote", cmp.Or(p.Branches, p.Remote), "refs/heads/"+branch), "\t")
	return id
}
