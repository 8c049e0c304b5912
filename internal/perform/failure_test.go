package perform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

func TestOnlyPassingErrorsAreRetried(t *testing.T) {
	t.Parallel()
	run := workflow.Run{Details: workflow.Details{Number: 42, Base: "main"}}
	for _, c := range []struct {
		err     error
		retried bool
		do      string
	}{
		{git.ErrLocked, true, ""},
		{git.ErrUnreachable, true, ""},
		{fmt.Errorf("%w: %w", forge.ErrRemote, git.ErrUnreachable), true, "push: never"},
		{forge.ErrRemote, false, "push: never"},
		{context.DeadlineExceeded, true, ""},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}, true, ""},
		{syscall.ECONNRESET, true, ""},
		{errors.New("nobody thought of this one"), false, "signalbox doctor"},
		{errNotAgreed, false, "signalbox status 42"},
		{fmt.Errorf("resolve refs/heads/main: %w", git.ErrNotFound), false, "signalbox doctor"},
		{git.ErrRejected, false, "signalbox doctor"},
		{&fs.PathError{Op: "open", Path: "/x/y", Err: syscall.EIO}, false, "signalbox doctor"},
		{&fs.PathError{Op: "open", Path: "/x/y z", Err: syscall.EACCES}, false, `chmod u+rwX "/x/y z"`},
		{&fs.PathError{Op: "open", Path: "/x/y", Err: syscall.EROFS}, false, "file system writable"},
		{&store.BrokenError{Path: "runs/RQ-1/planning.json", Reason: "unexpected EOF"}, false, "runs/RQ-1/planning.json"},
		{&store.BrokenError{Path: "environments.json", Line: 2, Column: 1, Reason: "unexpected EOF"}, false, "move it away: environments.json;"},
		{fmt.Errorf("%w: %w", forge.ErrRemote, git.ErrNoSSH), false, "apt-get install openssh-client"},
		{&forge.Failure{Kind: forge.Limited, RetryAfter: time.Hour}, true, "limit is reset"},
		{&forge.Failure{Kind: forge.Unavailable, Status: 502}, true, "signalbox doctor"},
		{&forge.Failure{Kind: forge.Unauthorized, Status: 401}, false, "renew the key of the forge's App"},
		{&forge.Failure{Kind: forge.Forbidden, Status: 403}, false, "the right that the message names"},
		{&forge.Failure{Kind: forge.Refused, Status: 422, Err: forge.ErrNotFound}, false, "settle on the forge"},
		{fmt.Errorf("write: %w: %w", store.ErrWrite, syscall.ENOSPC), false, "free disk space"},
	} {
		err := fmt.Errorf("do something: %w", c.err)
		got := (&execution{Performer: &Performer{}, run: run}).failure(workflow.Action{Kind: workflow.CreateBranch}, err)
		lines := commandline.Lines(&got)
		if got.Retryable != c.retried || !strings.Contains(strings.Join(lines, "; "), c.do) {
			t.Errorf("%v: retryable %t, to do %q; want %t and %q", err, got.Retryable, lines, c.retried, c.do)
		}
		if !got.Retryable && !strings.Contains(lines[len(lines)-1], "signalbox resume 42") {
			t.Errorf("%v: no way to resume in %q", err, lines)
		}
	}
}

func TestRefusedCredentialsAreNamed(t *testing.T) {
	t.Parallel()
	for want, access := range map[string]Access{"with it in MY_TOKEN": {Variable: "MY_TOKEN"}, "log in to the forge again: gh auth login": {Program: []string{"gh", "auth", "login"}}} {
		p := &Performer{Config: Config{Access: func() Access { return access }}}
		got := (&execution{Performer: p}).failure(workflow.Action{Kind: workflow.OpenPullRequest}, &forge.Failure{Kind: forge.Unauthorized})
		if says := strings.Join(commandline.Lines(&got), "; "); got.ReasonCode != workflow.ForgeUnauthorizedCode || !strings.Contains(says, want) {
			t.Errorf("%s: %s, want %q", got.ReasonCode, says, want)
		}
	}
}

func TestAnUnreachableRemoteDoesNotCountAsARefusal(t *testing.T) {
	t.Parallel()
	for says, err := range map[string]error{"can't be reached": fmt.Errorf("%w: %w", forge.ErrRemote, git.ErrUnreachable), "refuses the merge": forge.ErrRemote} {
		got := (&execution{Performer: &Performer{}}).failure(workflow.Action{Kind: workflow.CreateBranch}, err)
		if got.ReasonCode != workflow.RemoteRefusesCode || !strings.Contains(got.Title, says) {
			t.Errorf("%v: %s, %q; want %q", err, got.ReasonCode, got.Title, says)
		}
	}
}

func TestWhatKeepsCommandsFromBeingIsolatedIsTold(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{"install bubblewrap (apt-get install bubblewrap)": environment.ErrNoIsolation,
		"let programs make user namespaces: ": fmt.Errorf("%w: %w", environment.ErrNoIsolation, environment.ErrNoNamespaces)} {
		got := (&execution{Performer: &Performer{}}).failure(workflow.Action{Kind: workflow.CreateEnvironment}, err)
		if lines := strings.Join(commandline.Lines(&got), "; "); !strings.HasPrefix(lines, want) || !strings.Contains(lines, "--unsandboxed") {
			t.Errorf("%v: to do %q, want %q", err, lines, want)
		}
	}
}
