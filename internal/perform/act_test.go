package perform

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"signalbox/internal/commandline"
	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

func TestAnEnvironmentOfAnotherSpecificationIsNotRetried(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("make environment issue-1-x: %w", &environment.OtherSpecError{Made: environment.Spec{Commit: "old"}})
	got := (&execution{Performer: &Performer{}}).failure(workflow.Action{Kind: workflow.CreateEnvironment}, err)
	if got.Retryable || got.ReasonCode != "OTHER_ENVIRONMENT" || len(got.Next) == 0 {
		t.Errorf("got %+v", got)
	}
}

func TestErrorsForAPersonAreNotRetried(t *testing.T) {
	t.Parallel()
	for reason, err := range map[string]error{
		"ENVIRONMENT_GONE": fmt.Errorf("record change: %w", environment.ErrGone),
		// bubblewrap's message, which must not count as a missing bubblewrap
		"NO_PROCESSES":   fmt.Errorf("%w: \"bwrap: Can't fork for pid 1: Resource temporarily unavailable\"", environment.ErrNoIsolation),
		"NO_BASE_BRANCH": fmt.Errorf("find: %w", forge.ErrNoBase),
		"NO_PERMISSION":  &fs.PathError{Op: "read", Path: "/p/it's", Err: fs.ErrPermission},
	} {
		got := (&execution{Performer: &Performer{}}).failure(workflow.Action{Kind: workflow.RecordChange}, err)
		if got.Retryable || got.ReasonCode != reason || len(got.Next) == 0 || got.Next[0].Verb == workflow.VerbDoctor {
			t.Errorf("%s: got %+v", reason, got)
		}
	}
}

func TestEveryFailureAdvisesStepsThatAFrontEndCanOffer(t *testing.T) {
	t.Parallel()
	run := workflow.Run{Details: workflow.Details{Number: 42, Base: "main", EnvID: "issue-42", EnvPath: ".worktrees/issue-42"}}
	for _, err := range []error{syscall.ENOSPC, syscall.EDQUOT, environment.ErrTooLarge, syscall.EAGAIN, environment.ErrGone, environment.ErrNoIsolation,
		environment.ErrOtherSpec, environment.ErrNoContainer, &AgentError{Code: workflow.AgentUnavailableCode, Next: workflow.SeeDoctor, Err: errors.New("x")},
		errNotAgreed, errNameTaken, &environment.SubmoduleError{Problems: []string{"x"}, Hosts: []string{"[::1]"}, Closed: true}, git.ErrIncomplete, git.ErrFilter, git.ErrNoIdentity, git.ErrSigning, &forge.UnfinishedError{Command: "rebase", Err: errors.New("x")}, &forge.UnfinishedError{Command: "commit", Lock: "index.lock", Err: errors.New("x")},
		forge.ErrCheckout, forge.ErrRemoteMoved, forge.ErrNoBase, forge.ErrRemote, forge.ErrNotFound, &store.BrokenError{Path: "x"}, store.ErrBroken,
		fs.ErrPermission, syscall.EROFS, errors.New("anything else")} {
		e := (&execution{Performer: &Performer{}, run: run}).failure(workflow.Action{Kind: workflow.CreateBranch}, err)
		var steps []workflow.NextStep
		for _, step := range e.Next {
			steps = append(append(steps, step), step.Then...)
		}
		resumes := func(s workflow.NextStep) bool { return s.Verb == workflow.VerbResume }
		if !e.Retryable && !slices.ContainsFunc(steps, resumes) {
			t.Errorf("%v: no way to resume in %q", err, commandline.Lines(&e))
		}
		for _, step := range steps {
			if err := step.Validate(); err != nil {
				t.Errorf("%s: %v", e.ReasonCode, err)
			}
		}
	}
}
