// Package environment owns the port to isolated working folders: what an environment is made from, what
// can be done in it, and how a failed setup command is classified. It does not know what the work is, and
// it decides no retry: callers get an error or a class, and workflow decides.
//
// The conformance suite of the port is package environmenttest. Every driver passes it.
package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"signalbox/internal/process"
)

// Spec describes an environment. Making it twice with the same ID attaches to the first. A run's document
// holds everything that a Spec needs, so that another process can attach after a crash.
type Spec struct {
	// ID is the environment's identity; it matches [a-z0-9-]+. Drivers name folders, containers and
	// images by it.
	ID string
	// Dir is the work folder, relative to the project root: .worktrees/issue-42-fix-parser.
	Dir string
	// Commit is the full id of the commit to start from; Branch is the local branch name for it.
	Commit string
	Branch string
	// Image is what a driver with images starts from: a reference such as "node:22", or "file:" and the
	// path of a Dockerfile at Commit; empty means the driver's choice. Drivers without images ignore it.
	Image string
}

// Environment is one isolated working folder. Nothing in it is trusted: an agent may have replaced any
// file, git's own included. One caller at a time changes an environment; Exec and Read may run beside it.
type Environment interface {
	// Exec runs a command inside. Command.Dir is relative to the work folder; empty means its root. If the
	// work folder is gone, the error is ErrGone.
	process.Executor
	// Dir returns the work folder as commands inside see it, an absolute path.
	Dir() string
	// Isolation names what separates a command from the host: "bubblewrap", "container" or "none". The
	// run's document holds it.
	Isolation() string
	// Fingerprint identifies the base of the environment, independent of later work in it: driver and
	// version, isolation, and the image or this machine's toolchain. In two environments with the same
	// fingerprint, the same setup has the same result. It is part of a snapshot's key.
	Fingerprint() string
	// Private is a folder of the host that belongs to the environment, for data of its commands. Restore
	// empties it. It may not exist yet, and only commands that ask for it see it.
	Private() string
	// Restore returns the environment to the state before its setup: the tracked content of commit,
	// nothing untracked, nothing ignored, an empty HOME. If there is a snapshot with the key, the
	// environment starts from that instead, and warm is true. Nothing that an agent left in the environment
	// survives; the caller saves the work first. After a crash, a second call completes it.
	Restore(ctx context.Context, commit, key string) (warm bool, err error)
	// Snapshot makes the setup's result part of the environment: Record ignores, and Reset keeps, the
	// folders that the setup made, even those the project does not ignore. If key isn't empty, everything
	// (ignored files, HOME, a container's own file system) also becomes a snapshot for later Restores in
	// the project. No agent may have run since Restore, because later runs would start from its files. A
	// repeated call is harmless; a driver without snapshots keeps none.
	Snapshot(ctx context.Context, key string) error
	// Evict deletes the snapshot with the key, because a verification failed on it. A missing one is no
	// error.
	Evict(ctx context.Context, key string) error
	// Record imports the work folder's present content into the project's repository as one commit on top
	// of parent, with the given message. If the content is the parent's, it returns the parent's id. It
	// ignores any git metadata that the agent wrote; the host never runs git inside the folder. ErrTooLarge
	// if there is too much new content. A second call, also after a crash, returns the same commit.
	Record(ctx context.Context, parent string, message string) (Change, error)
	// Reset makes the work folder's tracked content that of commit (a full id known to the project's
	// repository) and removes untracked files that are not ignored. Uncommitted work is first saved on
	// keepRef, unless keepRef is empty.
	Reset(ctx context.Context, commit, keepRef string) error
	// Read returns at most limit bytes of a file in the work folder. It follows no symbolic links, which an
	// agent may have pointed at the host's files. A missing file is fs.ErrNotExist.
	Read(ctx context.Context, name string, limit int64) ([]byte, error)
}

// Change is the result of Record, in full object ids.
type Change struct {
	Commit string
	Tree   string
	// Changed is false if the tree is the parent's.
	Changed bool
}

// Driver makes, finds and removes environments. Each kind of isolation has one driver package. After a
// crash at any point, a second call of the same method completes it.
type Driver interface {
	// Name is the driver's name in the configuration.
	Name() string
	// Make creates the environment, or attaches to it if it exists. If the existing one was made from
	// another Spec, it returns *OtherSpecError. ErrNoIsolation and ErrNoContainer need a person.
	Make(ctx context.Context, spec Spec) (Environment, error)
	// Attach finds the environment and changes nothing. A missing one is fs.ErrNotExist.
	Attach(ctx context.Context, spec Spec) (Environment, error)
	// Remove deletes the environment's folder and ends everything it started. A missing environment is no
	// error. The caller saves the work first.
	Remove(ctx context.Context, spec Spec) error
	// Check returns an error if the driver can't work on this machine. A nil error with a note means that
	// it works with less isolation; the note names what is missing. Commands that start work call it first,
	// and so does "signalbox doctor".
	Check(ctx context.Context) (note string, err error)
}

// ErrGone: the work folder was deleted. Making the environment again restores the recorded work, and only
// that.
var ErrGone = errors.New("the environment's folder was deleted")

// ErrTooLarge: the work folder holds more new content than a change can sensibly have, such as a data set
// or build output that the project doesn't ignore. Nothing was recorded.
var ErrTooLarge = errors.New("the new content is too large to record")

// ErrOtherSpec: an environment with this ID was made from another Spec. A retry does not help.
var ErrOtherSpec = errors.New("an environment with this id was made from another specification")

// OtherSpecError is ErrOtherSpec with the Spec that the environment has: with Made, Make attaches to it.
type OtherSpecError struct{ Made Spec }

func (e *OtherSpecError) Error() string {
	return fmt.Sprintf("%v: it has commit %s on %s in %s", ErrOtherSpec, e.Made.Commit, e.Made.Branch, e.Made.Dir)
}

func (e *OtherSpecError) Unwrap() error { return ErrOtherSpec }

// ErrNoIsolation: commands can't be isolated from this machine, and the configuration doesn't allow
// running without. A person installs a sandbox or changes the configuration.
var ErrNoIsolation = errors.New("commands cannot be isolated from this machine")

// ErrNoNamespaces: bubblewrap is there, but the kernel lets it make no user namespaces. It comes with ErrNoIsolation.
var ErrNoNamespaces = errors.New("the kernel refuses user namespaces")

// IsolationAdvice returns what a person can do about ErrNoIsolation, other than to do without.
func IsolationAdvice(err error) string {
	switch {
	case errors.Is(err, ErrNoNamespaces):
	case err != nil && strings.Contains(err.Error(), "bwrap: "): // it's there, and says so
		return "find out why bubblewrap fails: bwrap --unshare-user --ro-bind / / true"
	default:
		return "install bubblewrap (apt-get install bubblewrap)"
	}
	for _, refusal := range []struct{ file, value, set string }{
		{"kernel/apparmor_restrict_unprivileged_userns", "1", "kernel.apparmor_restrict_unprivileged_userns=0"},
		{"user/max_user_namespaces", "0", "user.max_user_namespaces=15000"},
		{"kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"},
	} {
		if text, err := os.ReadFile("/proc/sys/" + refusal.file); err == nil && strings.TrimSpace(string(text)) == refusal.value {
			return "let programs make user namespaces: sudo sysctl -w " + refusal.set
		}
	}
	return "let programs make user namespaces: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu) or kernel.unprivileged_userns_clone=1 (Debian), or, in a container, start it with --security-opt seccomp=unconfined"
}

// ErrNoContainer: no container can be made or started, because of the engine, the image or a limit. The
// wrapping error says what a person can do; a retry does not help.
var ErrNoContainer = errors.New("no container can be started")

// SubmoduleError: files of submodules are unavailable, so an agent can't work on the commit. A retry
// helps only if Passing is set.
type SubmoduleError struct {
	// Problems are one sentence each, and name the submodule.
	Problems []string
	// Hosts are the ones that a person would have to add to environment.allow.
	Hosts []string
	// Closed: environment.network is none, so nothing can be fetched.
	Closed bool
	// Passing: a network or a server does not answer. It may later.
	Passing bool
}

func (e *SubmoduleError) Error() string { return strings.Join(e.Problems, "; ") }
