package perform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// act performs one action. It may have been performed before, in part or
// wholly, by a process that died: each looks first for what it would make.
func (x *execution) act(ctx context.Context, a workflow.Action) (workflow.Event, error) {
	o := workflow.Outcome{Key: a.Key, Presence: &x.presence}
	switch a.Kind {
	case workflow.CheckDependencies:
		return x.checkDependencies(ctx, o)
	case workflow.CreateBranch:
		return x.createBranch(ctx, o)
	case workflow.DetectEnvironment:
		return x.detectEnvironment(ctx, o)
	case workflow.CreateEnvironment:
		return x.createEnvironment(ctx, o, a)
	case workflow.ReadDesign:
		return x.readDesign(ctx, o)
	case workflow.CallAgent:
		return x.callAgent(ctx, o, a)
	case workflow.MergeBase:
		return x.mergeBase(ctx, o)
	case workflow.WritePlan:
		path, err := x.Store.WritePlan(ctx, workflow.RefOf(&x.run), x.run.Details.Plan)
		return workflow.PlanWritten{Outcome: o, Path: path}, err
	case workflow.RenewEnvironment:
		return x.renewEnvironment(ctx, o, a)
	case workflow.RunSetUp:
		return x.runSetUp(ctx, o, a)
	case workflow.AdoptSetUp:
		return x.adoptSetUp(ctx, o)
	case workflow.KeepEnvironment:
		return x.keepEnvironment(ctx, o, a)
	case workflow.RecordChange:
		return x.recordChange(ctx, o, a)
	case workflow.RunTests:
		return x.runTests(ctx, o, a)
	case workflow.OpenPullRequest:
		return x.openPullRequest(ctx, o)
	case workflow.WatchChecks:
		return x.watchChecks(ctx, o)
	case workflow.MergePullRequest:
		return x.merge(ctx, o)
	case workflow.ClosePullRequest:
		return workflow.PullRequestClosed{Outcome: o}, x.Forge.ClosePullRequest(ctx, x.run.Details.PullRequest.Number)
	case workflow.RemoveEnvironment:
		return x.removeEnvironment(ctx, o)
	case workflow.CloseRequest:
		return x.closeRequest(ctx, o)
	case workflow.PostComment:
		return x.postComment(ctx, o, a)
	case workflow.FindAgreement:
		return x.findAgreement(o), nil
	case workflow.KeepAgreement:
		return x.keepAgreement(o), nil
	case workflow.DropWork:
		return x.dropWork(ctx, o, a)
	case workflow.Wait:
		return x.waitUntil(ctx, o, a)
	}
	return nil, fmt.Errorf("perform %q: %w", a.Kind, errUnknownAction)
}

var errUnknownAction = errors.New("this version does not know the action: the run was saved by a newer one")

func (x *execution) waitUntil(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	select {
	case <-x.Clock.After(a.Until.Sub(x.Clock.Now())):
		return workflow.Waited{Outcome: o}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// failure turns an error into the document's words. Only what may pass by itself is
// retryable; the rest says what a person can do.
func (x *execution) failure(a workflow.Action, err error) workflow.Error {
	e := workflow.Error{Category: categories[a.Kind], ReasonCode: workflow.ActionFailedCode, Title: actionTitle(a.Kind),
		Message: x.Redact.String(err.Error()), Severity: workflow.Major, Retryable: mayPass(err)}
	if e.Category == "" {
		e.Category = workflow.CategoryExecution
	}
	resume := x.run.ThenResume()
	advise := func(steps ...workflow.NextStep) { e.Next = append(steps, resume) }
	var uncallable *AgentError
	var submodule *environment.SubmoduleError
	var unfinished *forge.UnfinishedError
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.ReasonCode, e.Retryable, e.Category = workflow.NoSpaceCode, false, workflow.CategoryEnvironment
		advise(workflow.Advice("free disk space"))
	case errors.Is(err, environment.ErrTooLarge):
		e.ReasonCode, e.Retryable, e.Category = workflow.WorkTooLarge, false, workflow.CategoryEnvironment
		e.Title, e.Message = "work in the environment is too large to keep", x.Redact.String(x.run.Details.EnvPath+": "+innermost(err).Error())
		e.Next = []workflow.NextStep{workflow.Advice(fmt.Sprintf("keep it yourself: copy it out of %s, delete it there", x.run.Details.EnvPath)).Following(resume),
			x.run.Forced("or lose it")}
	case process.Exhausted(err):
		e.ReasonCode, e.Category, e.Title = workflow.NoProcessesCode, workflow.CategoryEnvironment, "no further process can be started"
		advise(workflow.Advice(process.ExhaustedAdvice))
	case errors.Is(err, environment.ErrGone):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.EnvironmentGoneCode, false, workflow.CategoryEnvironment, environment.ErrGone.Error()
		e.Next = []workflow.NextStep{x.run.Ask("have it made again with what was recorded", workflow.VerbResume)}
	case errors.Is(err, environment.ErrNoIsolation):
		e.ReasonCode, e.Retryable = workflow.NoIsolationCode, false
		unprotected := x.run.Ask("install bubblewrap (apt-get install bubblewrap), or say that commands may run unprotected", workflow.VerbResume)
		unprotected.Unsandboxed = true
		e.Next = []workflow.NextStep{unprotected}
	case errors.Is(err, environment.ErrOtherSpec):
		e.ReasonCode, e.Retryable, e.Category = workflow.OtherEnvironmentCode, false, workflow.CategoryEnvironment
		advise(workflow.NextStep{Text: "bring back the configuration that it was made with, or have it removed after its work is on a ref",
			Verb: workflow.VerbRemoveEnvironment, Environment: x.run.Details.EnvID})
	case errors.Is(err, environment.ErrNoContainer):
		e.ReasonCode, e.Retryable, e.Category = workflow.NoContainerCode, false, workflow.CategoryEnvironment
		advise(workflow.SeeDoctor)
	case errors.As(err, &submodule):
		e.ReasonCode, e.Retryable, e.Category = workflow.SubmoduleMissingCode, submodule.Passing, workflow.CategoryEnvironment
		e.Title, e.Message = "the files of a submodule are missing", x.Redact.String(submodule.Error())
		advise(populateSubmodules(submodule)...)
	case errors.As(err, &uncallable):
		e.ReasonCode, e.Retryable, e.Category = uncallable.Code, uncallable.Passing, workflow.CategoryEnvironment
		e.Title = workflow.AgentTitle(uncallable.Role, uncallable.Code)
		advise(uncallable.Next)
	case errors.Is(err, errNotAgreed):
		advise(x.run.Ask("see what it would run", workflow.VerbStatus))
	case errors.Is(err, errNameTaken):
		e.ReasonCode, e.Retryable, e.Category = workflow.NameTakenCode, false, workflow.CategoryGit
		advise(byGit("give it another name", "branch", "-m", "signalbox", "signalbox-old"))
	case errors.Is(err, git.ErrIncomplete):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.PartialCloneCode, false, workflow.CategoryGit, "the clone lacks objects of the project"
		advise(byGit("fetch all of it", "fetch", "--refetch", "--no-filter"))
	case errors.Is(err, git.ErrFilter):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.FilterFailedCode, false, workflow.CategoryGit, "a filter that your git requires fails"
		advise(byGit("see which there are", "config", "--get-regexp", "^filter"),
			workflow.Advice("install or fix the program that the message names (git-lfs for the filter lfs), until git status shows no error"))
	case errors.Is(err, git.ErrNoIdentity):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.NoIdentityCode, false, workflow.CategoryInput, "git does not know your name"
		advise(byGit("", "config", "--global", "user.name", "Your Name"), byGit("", "config", "--global", "user.email", "you@example.org"))
	case errors.Is(err, git.ErrSigning):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.SigningFailedCode, false, workflow.CategoryInput, "a commit cannot be signed"
		advise(byGit("see that signing works by itself", "commit-tree", "-S", "-m", "test", "HEAD^{tree}"),
			workflow.Advice("or switch it off for Signalbox's commits: commit: {sign: never} in .signalbox/config.yaml"))
	case errors.As(err, &unfinished):
		e.ReasonCode, e.Retryable, e.Title = workflow.CheckoutInTheWayCode, false, fmt.Sprintf("a git %s of yours is half done where %s is checked out", unfinished.Command, x.run.Details.Base)
		advise(byGit("finish it", unfinished.Command, "--continue").Following(byGit("or give it up", unfinished.Command, "--abort")))
	case errors.Is(err, forge.ErrCheckout):
		e.ReasonCode, e.Retryable, e.Title = workflow.CheckoutInTheWayCode, false, "your local changes are in the way of the merge"
		e.Next = []workflow.NextStep{workflow.Advice("commit or stash them"), resume,
			x.run.Ask("or, committed, have the agent fit the change to them", workflow.VerbSync)}
	case errors.Is(err, forge.ErrRemoteMoved):
		e.ReasonCode, e.Retryable, e.Title = workflow.RemoteMovedCode, false, "the remote has commits that are missing here"
		advise(byGit("bring them in", "pull"))
	case errors.Is(err, forge.ErrNoBase):
		e.ReasonCode, e.Retryable, e.Title = workflow.NoBaseBranchCode, false, "the base branch is gone"
		e.Next = []workflow.NextStep{byGit("make it again", "branch", x.run.Details.Base, "COMMIT"), resume, x.run.GiveUp("or give the run up")}
	case errors.Is(err, forge.ErrRemote):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.RemoteRefusesCode, mayPass(err), workflow.CategoryGit, "the remote would not take the merge"
		if errors.Is(err, git.ErrUnreachable) {
			e.Title = "the remote can't be reached"
		}
		advise(byGit("see why", "push", "--dry-run", "origin", x.run.Details.Base),
			workflow.Advice("or keep branches and merges on this machine: push: never in .signalbox/config.yaml"))
	case errors.Is(err, forge.ErrNotFound):
		e.ReasonCode, e.Retryable, e.Category = workflow.NotFoundCode, false, workflow.CategoryInput
		advise(workflow.NextStep{Text: "see what is missing", Verb: workflow.VerbList})
	case errors.Is(err, store.ErrBroken):
		var broken *store.BrokenError
		e.ReasonCode, e.Retryable, e.Category = workflow.BrokenDocumentCode, false, workflow.CategoryInput
		if errors.As(err, &broken) {
			e.Title = "a document cannot be read"
			advise(workflow.Advice("it is kept as it is; fix it, or move it away: " + broken.Place()))
		}
	case errors.Is(err, fs.ErrPermission):
		e.ReasonCode, e.Retryable = workflow.NoPermissionCode, false
		advise(workflow.NextStep{Text: "let yourself read and write it", Program: x.accessTo(err)})
	case errors.Is(err, syscall.EROFS):
		e.ReasonCode, e.Retryable, e.Category = workflow.ReadOnlyCode, false, workflow.CategoryEnvironment
		advise(workflow.Advice("see to it that the file system can be written"))
	}
	if !e.Retryable && len(e.Next) == 0 {
		advise(workflow.NextStep{Text: "see what is wrong", Verb: workflow.VerbDoctor})
	}
	return e
}

// byGit is a step that a person takes with git.
func byGit(text string, args ...string) workflow.NextStep {
	return workflow.NextStep{Text: text, Program: append([]string{"git"}, args...)}
}

// accessTo is the command for the file that an error names; nil if it names none.
func (x *execution) accessTo(err error) []string {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return nil
	}
	return []string{"chmod", "u+rwX", x.Redact.String(at.Path)}
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
