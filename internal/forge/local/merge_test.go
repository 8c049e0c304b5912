package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/process"
)

// pausingHost lets a person act once, right before git is run with all these words.
type pausingHost struct {
	process.Host
	words []string
	once  sync.Once
	act   func()
}

func (h *pausingHost) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if !slices.ContainsFunc(h.words, func(word string) bool { return !slices.Contains(c.Args, word) }) {
		h.once.Do(h.act)
	}
	return h.Host.Exec(ctx, c)
}

func passing(context.Context, local.Candidate) (local.Verdict, error) {
	return local.Verdict{Passed: true, Command: "true"}, nil
}

// change commits a new file on its own branch and returns the pull request to open.
func change(t *testing.T, project, file string) forge.PullRequest {
	t.Helper()
	runGit(t, project, "switch", "--quiet", "--create", "work")
	writeFile(t, filepath.Join(project, file), "1\n")
	runGit(t, project, "add", "--", file)
	runGit(t, project, "commit", "--quiet", "-m", "Change")
	head := runGit(t, project, "rev-parse", "HEAD")
	runGit(t, project, "switch", "--quiet", "main")
	return forge.PullRequest{Key: "run-1", Request: "RQ-20261120-007", Title: "T", Branch: "signalbox/7-t", Head: head}
}

func openChecked(t *testing.T, f *local.Forge, pr forge.PullRequest) (forge.PullRequest, forge.Check) {
	t.Helper()
	pr, err := f.OpenPullRequest(t.Context(), pr)
	if err != nil {
		t.Fatal(err)
	}
	check, err := f.Checks(t.Context(), pr.Number)
	if err != nil {
		t.Fatal(err)
	}
	return pr, check
}

func TestCommitInTheMomentOfTheMergeIsKept(t *testing.T) {
	t.Parallel()
	project, remote := newProject(t), filepath.Join(t.TempDir(), "origin.git")
	runGit(t, project, "clone", "--quiet", "--bare", project, remote)
	runGit(t, project, "remote", "add", "origin", remote)
	host := &pausingHost{words: []string{"update-ref", "refs/heads/main"}, act: func() {
		runGit(t, project, "commit", "--quiet", "--allow-empty", "-m", "By a person")
	}}
	f, err := open(t.Context(), host, project, passing)
	if err != nil {
		t.Fatal(err)
	}
	pr, check := openChecked(t, f, change(t, project, "a"))
	if _, err := f.Merge(t.Context(), pr.Number, check, "m"); !errors.Is(err, forge.ErrBaseMoved) {
		t.Fatalf("merge gives %v, want ErrBaseMoved", err)
	}
	if subject := runGit(t, project, "log", "-1", "--format=%s"); subject != "By a person" {
		t.Errorf("main is at %q, want the person's commit", subject)
	}
	if check, err = f.Checks(t.Context(), pr.Number); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Merge(t.Context(), pr.Number, check, "m"); !errors.Is(err, local.ErrRemoteMoved) {
		t.Fatalf("merge gives %v, want ErrRemoteMoved", err)
	}
	runGit(t, project, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main")
	pulled := runGit(t, project, "rev-parse", "main")
	if merged, err := f.Merge(t.Context(), pr.Number, check, "m"); err != nil || merged.State != forge.Merged {
		t.Errorf("after a pull the merge gives %+v, %v", merged, err)
	}
	if after := runGit(t, project, "rev-parse", "main"); after != pulled {
		t.Errorf("main went to %s and held the change at %s already", after, pulled)
	}
}

func TestARejectedPushLeavesTheProjectsRefsAlone(t *testing.T) {
	t.Parallel()
	project, remote := newProject(t), filepath.Join(t.TempDir(), "origin.git")
	runGit(t, project, "clone", "--quiet", "--bare", project, remote)
	runGit(t, project, "remote", "add", "origin", remote)
	f := openProject(t, project, passing)
	pr, check := openChecked(t, f, change(t, project, "a"))
	before := runGit(t, project, "for-each-ref")
	runGit(t, remote, "config", "receive.denyCurrentBranch", "refuse")
	runGit(t, remote, "config", "core.bare", "false")
	if _, err := f.Merge(t.Context(), pr.Number, check, "m"); err == nil {
		t.Fatal("merged what the remote rejects")
	}
	if after := runGit(t, project, "for-each-ref"); after != before {
		t.Errorf("refs are\n%s\nwant\n%s", after, before)
	}
	if err := f.ClosePullRequest(t.Context(), pr.Number); err != nil {
		t.Errorf("closing it is not possible any more: %v", err)
	}
}

func TestTestsThatWereCutOffAreNoVerdict(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	pr, err := openProject(t, project, nil).OpenPullRequest(t.Context(), change(t, project, "a"))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no space for the clone")
	if check, err := openProject(t, project, func(context.Context, local.Candidate) (local.Verdict, error) {
		return local.Verdict{Passed: true}, broken
	}).Checks(t.Context(), pr.Number); !errors.Is(err, broken) {
		t.Errorf("an error gives %+v, %v", check, err)
	}
	// As a git that does not answer has it, while there is time for checks.
	if check, err := openProject(t, project, func(context.Context, local.Candidate) (local.Verdict, error) {
		return local.Verdict{}, context.DeadlineExceeded
	}).Checks(t.Context(), pr.Number); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, forge.ErrNoChecks) {
		t.Errorf("a limit of something else gives %+v, %v", check, err)
	}
	ctx := &overdue{Context: t.Context(), over: make(chan struct{})}
	check, err := openProject(t, project, func(ctx context.Context, _ local.Candidate) (local.Verdict, error) {
		close(ctx.(*overdue).over)
		return local.Verdict{Passed: true, Command: "make test", LogPath: "check.log"}, nil
	}).Checks(ctx, pr.Number)
	if err != nil || !check.Unsettled || check.State == forge.CheckPassed || check.Head != pr.Head || check.LogPath != "check.log" ||
		!strings.Contains(check.Summary, "limits.checks_total") {
		t.Errorf("when its time is over, the check is %+v, %v; want an unsettled one", check, err)
	}
	if check, err := openProject(t, project, passing).Checks(t.Context(), pr.Number); err != nil || check.State != forge.CheckPassed {
		t.Errorf("afterwards the check is %+v, %v", check, err)
	}
}

// overdue is a context whose deadline passes when over is closed.
type overdue struct {
	context.Context //nolint:containedctx // it is one
	over            chan struct{}
}

func (o *overdue) Done() <-chan struct{} { return o.over }

func (o *overdue) Err() error {
	select {
	case <-o.over:
		return context.DeadlineExceeded
	default:
		return o.Context.Err()
	}
}

func TestAVerdictOfTestsThatRanOutOfTimeOrMemoryIsNotKept(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	failing := func(unsettled bool) *local.Forge {
		return openProject(t, project, func(context.Context, local.Candidate) (local.Verdict, error) {
			return local.Verdict{Unsettled: unsettled, Summary: "failed"}, nil
		})
	}
	pr, check := openChecked(t, failing(true), change(t, project, "a"))
	if check.State != forge.CheckFailed || check.Summary != "failed" {
		t.Errorf("the check is %+v", check)
	}
	if check, err := failing(false).Checks(t.Context(), pr.Number); err != nil || check.State != forge.CheckFailed {
		t.Errorf("the second check is %+v, %v", check, err)
	}
	if check, err := openProject(t, project, passing).Checks(t.Context(), pr.Number); err != nil || check.State != forge.CheckFailed {
		t.Errorf("tests that ended by themselves were run again: %+v, %v", check, err)
	}
}

func TestAVerdictThatIsNotKeptLetsTheSameContentPassLater(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	pr, _ := openChecked(t, openProject(t, project, func(context.Context, local.Candidate) (local.Verdict, error) {
		return local.Verdict{Unsettled: true}, nil
	}), change(t, project, "a"))
	if check, err := openProject(t, project, passing).Checks(t.Context(), pr.Number); err != nil || check.State != forge.CheckPassed {
		t.Errorf("the second check is %+v, %v", check, err)
	}
}

func TestOpenPullRequestRefuses(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	f := openProject(t, project, passing)
	sound := change(t, project, "a")
	cases := map[string]func(*forge.PullRequest){
		"no key":                     func(pr *forge.PullRequest) { pr.Key = "" },
		"a branch that is not ours":  func(pr *forge.PullRequest) { pr.Branch = "main" },
		"a branch that is an option": func(pr *forge.PullRequest) { pr.Branch = "--output=x" },
		"a base that is an option":   func(pr *forge.PullRequest) { pr.Base = "--output=x" },
		"a short head":               func(pr *forge.PullRequest) { pr.Head = pr.Head[:8] },
		"a head that is not there":   func(pr *forge.PullRequest) { pr.Head = strings.Repeat("a", 40) },
	}
	for name, spoil := range cases {
		pr := sound
		spoil(&pr)
		if opened, err := f.OpenPullRequest(t.Context(), pr); err == nil {
			t.Errorf("%s is opened as %+v", name, opened)
		}
	}
	if pr, err := f.OpenPullRequest(t.Context(), sound); err != nil || pr.Number != 1 || pr.Base != "main" {
		t.Errorf("opened %+v, %v, want number 1 into main", pr, err)
	}
	runGit(t, project, "update-ref", "refs/heads/signalbox/7-t", runGit(t, project, "commit-tree", "-m", "Mine", sound.Head+"^{tree}"))
	if _, err := f.OpenPullRequest(t.Context(), sound); !errors.Is(err, local.ErrBranchMoved) {
		t.Errorf("a branch with another commit gives %v, want ErrBranchMoved", err)
	}
}

// cutHost cuts the forge off right after git moved main.
type cutHost struct {
	process.Host
	cut func()
}

func (h *cutHost) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	result, err := h.Host.Exec(ctx, c)
	if slices.Contains(c.Args, "update-ref") && slices.Contains(c.Args, "refs/heads/main") {
		h.cut()
	}
	return result, err
}

// A git that moves the branch which is checked out gives HEAD's lock back after that, and may die between the two.
func TestLockOfAGitThatDiedBehindTheMoveIsTakenAway(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	ctx, cut := context.WithCancel(t.Context())
	f, err := open(ctx, &cutHost{cut: cut}, project, passing)
	if err != nil {
		t.Fatal(err)
	}
	pr, check := openChecked(t, f, change(t, project, "a"))
	if _, err := f.Merge(ctx, pr.Number, check, "m"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the merge was not cut off: %v", err)
	}
	lock := filepath.Join(project, ".git", "HEAD.lock")
	writeFile(t, lock, "")
	ago := time.Now().Add(-time.Hour)
	if err := os.Chtimes(lock, ago, ago); err != nil {
		t.Fatal(err)
	}
	if merged, err := openProject(t, project, passing).Merge(t.Context(), pr.Number, check, "m"); err != nil || merged.State != forge.Merged {
		t.Fatalf("the merge is %+v, %v", merged, err)
	}
	runGit(t, project, "commit", "--quiet", "--allow-empty", "-m", "By a person")
}
