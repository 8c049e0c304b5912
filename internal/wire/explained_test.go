package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/engine"
	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/store"
)

func TestARemovedFileIsNotBlamedOnTheDisk(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]string{fs.ErrNotExist: "something removed", syscall.ENOSPC: "check the disk"} {
		var p *problem.Error
		if err := Explained(fmt.Errorf("%w: %w", engine.ErrNotSaved, cause)); !errors.As(err, &p) || !strings.Contains(p.Hint, want) {
			t.Errorf("%v is explained by %v, want %q", cause, p, want)
		}
	}
}

func TestAHintNamesWhatHelps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{git.ErrBare, "git clone"},
		{git.ErrUnreadable, "git status"},
		{git.ErrNotRepository, "git init"},
		{environment.ErrNoIsolation, "apt-get install bubblewrap"},
		{fmt.Errorf("%w: %w", environment.ErrNoIsolation, environment.ErrNoNamespaces), "let programs make user namespaces: "},
		{fmt.Errorf("%w: the sandbox cannot be built: %q", environment.ErrNoIsolation, "bwrap: Can't mount proc on /newroot/proc"), "find out why bubblewrap fails: bwrap "},
		{fmt.Errorf("%w %w", forge.ErrNotFound, &local.RequestError{Path: "requests/1.md", Err: syscall.EACCES}), "chmod u+r requests/1.md"},
		{&store.BrokenError{Path: "environments.json"}, `fix it by hand; "signalbox document validate environments.json"`},
		{&store.BrokenError{Path: "state.json"}, "signalbox health restore"},
		{&fs.PathError{Op: "openat", Path: ".worktrees/.status", Err: syscall.ENOTDIR}, "mv .worktrees .worktrees-old"},
		{&fs.PathError{Op: "mkdirat", Path: "runs/RQ-20260101-001", Err: syscall.EACCES}, "chmod -R u+rwX runs"},
		{fmt.Errorf("%w: %w", engine.ErrLost, store.ErrLockLost), "signalbox list"},
		{&local.RequestError{Path: "requests/1.md", Err: errors.New("line 2: wrong")}, "fix the file"},
	} {
		var p *problem.Error
		if err := Explained(c.err); !errors.As(err, &p) || !strings.Contains(p.Hint, c.want) {
			t.Errorf("%v is explained by %+v, want %q", c.err, p, c.want)
		}
	}
	if code := problem.CodeOf(Explained(fmt.Errorf("%w %w", forge.ErrNotFound, &local.RequestError{Path: "1.md", Err: syscall.EACCES}))); code != problem.General {
		t.Errorf("a request that may not be read ends with code %d", code)
	}
}
