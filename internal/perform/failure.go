package perform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

// failure describes an error for the document. It's retryable only if it may pass by itself; otherwise it says what a person can
// do.
func (x *execution) failure(a workflow.Action, err error) workflow.Error {
	kind := kinds[a.Kind]
	e := workflow.Error{Category: cmp.Or(kind.category, workflow.CategoryExecution), ReasonCode: workflow.ActionFailedCode,
		Title: cmp.Or(kind.title, "an action failed"), Message: x.Redact.String(err.Error()), Severity: workflow.Major, Retryable: mayPass(err)}
	exhausted, allowMore := process.Exhausted(err)
	resume := x.run.ThenResume()
	advise := func(steps ...workflow.NextStep) { e.Next = append(steps, resume) }
	var uncallable *AgentError
	var submodule *environment.SubmoduleError
	var unfinished *forge.UnfinishedError
	var refused *forge.Failure
	var broken interface{ File() string } // a document that can't be read, whatever keeps it
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.ReasonCode, e.Retryable, e.Category = workflow.NoSpaceCode, false, workflow.CategoryEnvironment
		advise(workflow.Advice("free disk space"))
	case errors.Is(err, environment.ErrTooLarge):
		e.ReasonCode, e.Retryable, e.Category = workflow.WorkTooLarge, false, workflow.CategoryEnvironment
		e.Title, e.Message = "work in the environment is too large to keep", x.Redact.String(x.run.Details.EnvPath+": "+innermost(err).Error())
		e.Next = []workflow.NextStep{workflow.Advice(fmt.Sprintf("keep it yourself: copy it out of %s, delete it there", x.run.Details.EnvPath)).Following(resume),
			x.run.Forced("or lose it")}
	case exhausted != "":
		e.ReasonCode, e.Category, e.Title = workflow.NoProcessesCode, workflow.CategoryEnvironment, exhausted
		advise(workflow.Advice(allowMore))
	case errors.Is(err, environment.ErrGone):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.EnvironmentGoneCode, false, workflow.CategoryEnvironment, environment.ErrGone.Error()
		e.Next = []workflow.NextStep{x.run.Ask("have it made again from the recorded work", workflow.VerbResume)}
	case errors.Is(err, environment.ErrNoIsolation):
		e.ReasonCode, e.Retryable = workflow.NoIsolationCode, false
		unprotected := x.run.Ask(environment.IsolationAdvice(err)+", or say that commands may run unprotected", workflow.VerbResume)
		unprotected.Unsandboxed = true
		e.Next = []workflow.NextStep{unprotected}
	case errors.Is(err, environment.ErrOtherSpec):
		e.ReasonCode, e.Retryable, e.Category = workflow.OtherEnvironmentCode, false, workflow.CategoryEnvironment
		advise(workflow.NextStep{Text: "bring back the configuration that it was made with, or have it removed after its work is on a ref",
			Verb: workflow.VerbRemoveEnvironment, Environment: x.run.EnvironmentID()})
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
	case errors.As(err, &unfinished) && unfinished.Lock != "":
		e.ReasonCode, e.Retryable, e.Title = workflow.CheckoutInTheWayCode, false, fmt.Sprintf("a git command of yours is at work where %s is checked out", x.run.Details.Base)
		advise(workflow.Advice("finish it: a commit waits until you close the editor with its message"),
			workflow.NextStep{Text: "or, if no git is running there, remove what it left", Program: []string{"rm", unfinished.Lock}})
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
	case errors.Is(err, errBaseRewritten):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.BaseRewrittenCode, false, workflow.CategoryGit, "the base branch was rewritten"
		e.Next = []workflow.NextStep{x.run.GiveUp("begin again from what is there now; this work stays on a ref").Following(x.run.Ask("", workflow.VerbRun))}
	case errors.Is(err, forge.ErrMergeGone):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.BaseRewrittenCode, false, workflow.CategoryGit, "the pull request is merged, and the base branch lacks the merge"
		e.Next = []workflow.NextStep{workflow.Advice("bring the merge back if it is wanted"), resume, x.run.GiveUp("or give the run up")}
	case errors.Is(err, forge.ErrClosed):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.PullRequestClosedCode, false, workflow.CategoryInput, "someone closed the pull request"
		e.Next = []workflow.NextStep{workflow.Advice("if the change is wanted, reopen the pull request on its page"), resume, x.run.GiveUp("or give the run up")}
	case errors.Is(err, forge.ErrNoBase) && x.Access != nil:
		e.ReasonCode, e.Retryable, e.Title = workflow.NoBaseBranchCode, false, "the base branch is gone on the forge"
		e.Next = []workflow.NextStep{byGit("push it again", "push", "origin", x.run.Details.Base), resume, x.run.GiveUp("or give the run up")}
	case errors.Is(err, forge.ErrNoBase):
		e.ReasonCode, e.Retryable, e.Title = workflow.NoBaseBranchCode, false, "the base branch is gone"
		e.Next = []workflow.NextStep{byGit("make it again", "branch", x.run.Details.Base, "COMMIT"), resume, x.run.GiveUp("or give the run up")}
	case errors.Is(err, git.ErrNoSSH):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.RemoteRefusesCode, false, workflow.CategoryGit, "the remote is reached by ssh, and there is no such program"
		e.Next = append([]workflow.NextStep{workflow.Advice("install it: apt-get install openssh-client")}, x.onlyHere()...)
		e.Next = append(e.Next, resume)
	case errors.Is(err, forge.ErrRemote):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.RemoteRefusesCode, mayPass(err), workflow.CategoryGit, "the remote refuses the merge"
		if errors.Is(err, git.ErrUnreachable) {
			e.Title = "the remote can't be reached"
		}
		e.Next = []workflow.NextStep{byGit("see why", "push", "--dry-run", "origin", x.run.Details.Base)}
		if errors.Is(err, forge.ErrRights) || strings.Contains(x.run.Details.Settings.PushesTo, "/") { // from a fork, nothing is pushed to origin
			e.Next = []workflow.NextStep{{Text: "see where branches go", Verb: workflow.VerbDoctor}}
		}
		e.Next = append(append(e.Next, x.onlyHere()...), resume)
	case errors.As(err, &refused):
		x.refused(&e, refused)
	case errors.Is(err, forge.ErrNotFound):
		e.ReasonCode, e.Retryable, e.Category = workflow.NotFoundCode, false, workflow.CategoryInput
		advise(workflow.NextStep{Text: "see what is missing", Verb: workflow.VerbList})
	case errors.As(err, &broken):
		e.ReasonCode, e.Retryable, e.Category, e.Title = workflow.BrokenDocumentCode, false, workflow.CategoryInput, "a document cannot be read"
		advise(workflow.Advice("it is kept as it is; fix it, or move it away: " + broken.File()))
	case errors.Is(err, fs.ErrPermission):
		e.ReasonCode, e.Retryable = workflow.NoPermissionCode, false
		step := workflow.NextStep{Text: "let yourself read and write it"}
		if at := (*fs.PathError)(nil); errors.As(err, &at) {
			step.Program = []string{"chmod", "u+rwX", x.Redact.String(at.Path)}
		}
		advise(step)
	case errors.Is(err, syscall.EROFS):
		e.ReasonCode, e.Retryable, e.Category = workflow.ReadOnlyCode, false, workflow.CategoryEnvironment
		advise(workflow.Advice("make the file system writable"))
	}
	if !e.Retryable && len(e.Next) == 0 {
		advise(workflow.NextStep{Text: "see what is wrong", Verb: workflow.VerbDoctor})
	}
	return e
}

// onlyHere returns the step of a person who wants nothing pushed; none on a server, where a change has to be.
func (x *execution) onlyHere() []workflow.NextStep {
	if x.Access != nil {
		return nil
	}
	return []workflow.NextStep{workflow.Advice("or keep branches and merges on this machine: push: never in .signalbox/config.yaml")}
}

// byGit returns a step that a person takes with git.
func byGit(text string, args ...string) workflow.NextStep {
	return workflow.NextStep{Text: text, Program: append([]string{"git"}, args...)}
}

// innermost returns the error that says what is too large, without its context.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil || next == environment.ErrTooLarge { //nolint:errorlint // the error before it is wanted
			return err
		}
		err = next
	}
}

// passing are the errors that may pass by themselves within a minute. All others count as permanent: four silent tries cost
// a minute and end with the same message. EIO isn't one of them: writing again to a failing disk may lose more.
var passing = []error{
	git.ErrLocked, git.ErrRefMoved, git.ErrUnreachable, // another git program, or the network
	context.DeadlineExceeded, process.ErrUnkillable, // the machine was too busy
	io.ErrUnexpectedEOF, net.ErrClosed, // the other side went away
	syscall.EAGAIN, syscall.EBUSY, syscall.EINTR, syscall.ETXTBSY, syscall.ESTALE,
	syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, // other programs use them for now
	syscall.ETIMEDOUT, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
	syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EHOSTUNREACH,
}

// mayPass reports whether an action that failed with err is worth another try without asking.
func mayPass(err error) bool {
	for _, p := range passing {
		if errors.Is(err, p) {
			return true
		}
	}
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
