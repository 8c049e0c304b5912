package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// act performs one action. It may have been performed before, in part or
// wholly, by a runner that died: each looks first for what it would make.
func (w *work) act(ctx context.Context, a workflow.Action) (workflow.Event, error) {
	o := workflow.Outcome{Key: a.Key}
	switch a.Kind {
	case workflow.CheckDependencies:
		return w.checkDependencies(ctx, o)
	case workflow.CreateBranch:
		return w.createBranch(ctx, o)
	case workflow.DetectEnvironment:
		return w.detectEnvironment(ctx, o)
	case workflow.CreateEnvironment:
		return w.createEnvironment(ctx, o, a)
	case workflow.ReadDesign:
		return w.readDesign(ctx, o)
	case workflow.CallAgent:
		return w.callAgent(ctx, o, a)
	case workflow.MergeBase:
		return w.mergeBase(ctx, o)
	case workflow.WritePlan:
		path, err := w.Store.WritePlan(ctx, w.ref, w.run.Journey.Plan)
		return workflow.PlanWritten{Outcome: o, Path: path}, err
	case workflow.RenewEnvironment:
		return w.renewEnvironment(ctx, o, a)
	case workflow.RunSetUp:
		return w.runSetUp(ctx, o, a)
	case workflow.AdoptSetUp:
		return w.adoptSetUp(ctx, o)
	case workflow.KeepEnvironment:
		return w.keepEnvironment(ctx, o, a)
	case workflow.RecordChange:
		return w.recordChange(ctx, o, a)
	case workflow.RunTests:
		return w.runTests(ctx, o, a)
	case workflow.OpenPullRequest:
		return w.openPullRequest(ctx, o)
	case workflow.WatchChecks:
		return w.watchChecks(ctx, o)
	case workflow.MergePullRequest:
		return w.merge(ctx, o)
	case workflow.ClosePullRequest:
		return workflow.PullRequestClosed{Outcome: o}, w.Forge.ClosePullRequest(ctx, w.run.Journey.PullRequest.Number)
	case workflow.RemoveEnvironment:
		return w.removeEnvironment(ctx, o)
	case workflow.CloseRequest:
		return w.closeRequest(ctx, o)
	case workflow.PostComment:
		return w.postComment(ctx, o, a)
	case workflow.FindAgreement:
		return w.findAgreement(o), nil
	case workflow.KeepAgreement:
		return w.keepAgreement(o), nil
	case workflow.DropWork:
		return w.dropWork(ctx, o, a)
	case workflow.Wait:
		return w.waitUntil(ctx, o, a)
	}
	return nil, fmt.Errorf("perform %q: %w", a.Kind, errUnknownAction)
}

var errUnknownAction = errors.New("this version does not know the action: the run was saved by a newer one")

func (w *work) waitUntil(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	select {
	case <-w.Clock.After(a.Until.Sub(w.Clock.Now())):
		return workflow.Waited{Outcome: o}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// failure turns an error into the document's words. Only what may pass by itself is
// retryable; the rest says what a person can do.
func (w *work) failure(a workflow.Action, err error) workflow.Error {
	e := workflow.Error{Category: categories[a.Kind], ReasonCode: "ACTION_FAILED", Title: actionTitle(a.Kind),
		Message: w.Redact.String(err.Error()), Severity: workflow.Major, Retryable: mayPass(err)}
	if e.Category == "" {
		e.Category = workflow.CategoryExecution
	}
	resume := resumeAction + w.run.Ref()
	var uncallable *AgentError
	var unfinished *forge.UnfinishedError
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.ReasonCode, e.Retryable, e.Category = "NO_SPACE", false, workflow.CategoryEnvironment
		e.Actions = []string{"free disk space", resume}
	case errors.Is(err, environment.ErrTooLarge):
		e.ReasonCode, e.Retryable, e.Category = workflow.WorkTooLarge, false, workflow.CategoryEnvironment
		e.Title, e.Message = "work in the environment is too large to keep", w.Redact.String(w.run.Journey.EnvPath+": "+innermost(err).Error())
		e.Actions = []string{fmt.Sprintf("keep it yourself: copy it out of %s, delete it there; then: signalbox resume %s", w.run.Journey.EnvPath, w.run.Ref()),
			"or lose it: signalbox resume --force " + w.run.Ref()}
	case process.Exhausted(err):
		e.ReasonCode, e.Category, e.Title = "NO_PROCESSES", workflow.CategoryEnvironment, "no further process can be started"
		e.Actions = []string{process.ExhaustedAdvice, resume}
	case errors.Is(err, environment.ErrGone):
		e.ReasonCode, e.Retryable, e.Category, e.Title = "ENVIRONMENT_GONE", false, workflow.CategoryEnvironment, environment.ErrGone.Error()
		e.Actions = []string{"have it made again with what was recorded: signalbox resume " + w.run.Ref()}
	case errors.Is(err, environment.ErrNoIsolation):
		e.ReasonCode, e.Retryable = "NO_ISOLATION", false
		e.Actions = []string{"install bubblewrap (apt-get install bubblewrap), or say that commands may run unprotected: signalbox resume --unsandboxed " + w.run.Ref()}
	case errors.Is(err, environment.ErrOtherSpec):
		e.ReasonCode, e.Retryable, e.Category = "OTHER_ENVIRONMENT", false, workflow.CategoryEnvironment
		e.Actions = []string{"bring back the configuration that it was made with, or have it removed after its work is on a ref: signalbox env remove " +
			w.run.Journey.EnvID, resume}
	case errors.Is(err, environment.ErrNoContainer):
		e.ReasonCode, e.Retryable, e.Category = "NO_CONTAINER", false, workflow.CategoryEnvironment
		e.Actions = []string{"see what is missing: signalbox doctor", resume}
	case errors.As(err, &uncallable):
		e.ReasonCode, e.Retryable, e.Category = uncallable.Code, uncallable.Passing, workflow.CategoryEnvironment
		e.Title = workflow.AgentTitle(uncallable.Role, uncallable.Code)
		e.Actions = []string{uncallable.Next, resume}
	case errors.Is(err, errNameTaken):
		e.ReasonCode, e.Retryable, e.Category = "NAME_TAKEN", false, workflow.CategoryGit
		e.Actions = []string{"give it another name: git branch -m signalbox signalbox-old", resume}
	case errors.Is(err, git.ErrIncomplete):
		e.ReasonCode, e.Retryable, e.Category, e.Title = "PARTIAL_CLONE", false, workflow.CategoryGit, "the clone lacks objects of the project"
		e.Actions = []string{"fetch all of it: git fetch --refetch --no-filter", resume}
	case errors.Is(err, git.ErrFilter):
		e.ReasonCode, e.Retryable, e.Category, e.Title = "FILTER_FAILED", false, workflow.CategoryGit, "a filter that your git requires fails"
		e.Actions = []string{`see which there are: git config --get-regexp "^filter"`,
			"install or fix the program that the message names (git-lfs for the filter lfs), until git status shows no error", resume}
	case errors.Is(err, git.ErrNoIdentity):
		e.ReasonCode, e.Retryable, e.Category, e.Title = "NO_IDENTITY", false, workflow.CategoryInput, "git does not know your name"
		e.Actions = []string{`git config --global user.name "Your Name"`, "git config --global user.email you@example.org", resume}
	case errors.Is(err, git.ErrSigning):
		e.ReasonCode, e.Retryable, e.Category, e.Title = "SIGNING_FAILED", false, workflow.CategoryInput, "a commit cannot be signed"
		e.Actions = []string{`see that signing works by itself: git commit-tree -S -m test "HEAD^{tree}"`,
			"or switch it off for Signalbox's commits: commit: {sign: never} in .signalbox/config.yaml", resume}
	case errors.As(err, &unfinished):
		e.ReasonCode, e.Retryable, e.Title = "CHECKOUT_IN_THE_WAY", false, fmt.Sprintf("a git %s of yours is half done where %s is checked out", unfinished.Command, w.run.Journey.Base)
		e.Actions = []string{fmt.Sprintf("finish it: git %s --continue; or give it up: git %[1]s --abort", unfinished.Command), resume}
	case errors.Is(err, forge.ErrCheckout):
		e.ReasonCode, e.Retryable, e.Title = "CHECKOUT_IN_THE_WAY", false, "your local changes are in the way of the merge"
		e.Actions = []string{"commit or stash them", resume,
			"or, committed, have the agent fit the change to them: signalbox sync " + w.run.Ref()}
	case errors.Is(err, forge.ErrRemoteMoved):
		e.ReasonCode, e.Retryable, e.Title = "REMOTE_MOVED", false, "the remote has commits that are missing here"
		e.Actions = []string{"bring them in: git pull", resume}
	case errors.Is(err, forge.ErrNoBase):
		e.ReasonCode, e.Retryable, e.Title = "NO_BASE_BRANCH", false, "the base branch is gone"
		e.Actions = []string{fmt.Sprintf("make it again: git branch %s COMMIT", w.run.Journey.Base), resume, "or give the run up: signalbox stop --cancel " + w.run.Ref()}
	case errors.Is(err, forge.ErrRemote):
		e.ReasonCode, e.Retryable, e.Category, e.Title = "REMOTE_REFUSES", mayPass(err), workflow.CategoryGit, "the remote would not take the merge"
		e.Actions = []string{"see why: git push --dry-run origin " + w.run.Journey.Base, resume,
			"or keep branches and merges on this machine: push: never in .signalbox/config.yaml"}
	case errors.Is(err, forge.ErrNotFound):
		e.ReasonCode, e.Retryable, e.Category = "NOT_FOUND", false, workflow.CategoryInput
		e.Actions = []string{"see what is missing: signalbox list", resume}
	case errors.Is(err, store.ErrBroken):
		var broken *store.BrokenError
		e.ReasonCode, e.Retryable, e.Category = "BROKEN_DOCUMENT", false, workflow.CategoryInput
		if errors.As(err, &broken) {
			e.Title = "a document cannot be read"
			e.Actions = []string{"it is kept as it is; fix it, or move it away: " + broken.Place(), resume}
		}
	case errors.Is(err, fs.ErrPermission):
		e.ReasonCode, e.Retryable = "NO_PERMISSION", false
		e.Actions = []string{"let yourself read and write it" + accessTo(err), resume}
	case errors.Is(err, syscall.EROFS):
		e.ReasonCode, e.Retryable, e.Category = "READ_ONLY", false, workflow.CategoryEnvironment
		e.Actions = []string{"see to it that the file system can be written", resume}
	}
	if !e.Retryable && len(e.Actions) == 0 {
		e.Actions = []string{"see what is wrong: signalbox doctor", resume}
	}
	return e
}

// resumeAction begins the last thing to type, which lets the run go on.
const resumeAction = "then: signalbox resume "

// accessTo is what to type for the file that an error names; empty if it names none.
func accessTo(err error) string {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return ""
	}
	return ": chmod u+rwX '" + strings.ReplaceAll(at.Path, "'", `'\''`) + "'"
}

// innermost is the error that says what is too large, without where we came across it.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil || next == environment.ErrTooLarge { //nolint:errorlint // the one before it is wanted
			return err
		}
		err = next
	}
}

var categories = map[workflow.ActionKind]workflow.Category{
	workflow.CheckDependencies: workflow.CategoryInput,
	workflow.CreateBranch:      workflow.CategoryGit,
	workflow.CreateEnvironment: workflow.CategoryEnvironment,
	workflow.RunSetUp:          workflow.CategoryEnvironment,
	workflow.RenewEnvironment:  workflow.CategoryEnvironment,
	workflow.AdoptSetUp:        workflow.CategoryEnvironment,
	workflow.DetectEnvironment: workflow.CategoryGit,
	workflow.RemoveEnvironment: workflow.CategoryEnvironment,
	workflow.RecordChange:      workflow.CategoryGit,
	workflow.OpenPullRequest:   workflow.CategoryGit,
	workflow.WatchChecks:       workflow.CategoryTest,
	workflow.MergePullRequest:  workflow.CategoryGit,
	workflow.MergeBase:         workflow.CategoryGit,
	workflow.ClosePullRequest:  workflow.CategoryGit,
	workflow.DropWork:          workflow.CategoryEnvironment,
}

func actionTitle(kind workflow.ActionKind) string {
	titles := map[workflow.ActionKind]string{
		workflow.CheckDependencies: "the requests it depends on cannot be read",
		workflow.CreateBranch:      "the branch cannot be made",
		workflow.CreateEnvironment: "the environment cannot be made",
		workflow.ReadDesign:        "the project's documents cannot be read",
		workflow.CallAgent:         "the agent cannot be called",
		workflow.WritePlan:         "the plan cannot be written",
		workflow.RunSetUp:          "the set-up cannot be run",
		workflow.DetectEnvironment: "the project's files cannot be read",
		workflow.RenewEnvironment:  "the environment cannot be prepared",
		workflow.AdoptSetUp:        "what the set-up made cannot be read",
		workflow.RecordChange:      "the change cannot be recorded",
		workflow.RunTests:          "the tests cannot be run",
		workflow.OpenPullRequest:   "the pull request cannot be opened",
		workflow.WatchChecks:       "the checks cannot be run",
		workflow.MergePullRequest:  "the change cannot be merged",
		workflow.ClosePullRequest:  "the pull request cannot be closed",
		workflow.RemoveEnvironment: "the environment cannot be removed",
		workflow.CloseRequest:      "the request cannot be closed",
		workflow.PostComment:       "the comment cannot be posted",
		workflow.DropWork:          "the environment cannot be cleared",
		workflow.MergeBase:         "the base branch cannot be merged into the change",
	}
	if t, ok := titles[kind]; ok {
		return t
	}
	return "an action failed"
}
