// Package environment owns the port to isolated places of work: what one is
// made from, what can be done in it, and how a failed set-up command is
// classified. It refuses to know what the work is.
package environment

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/process"
)

// Spec says which environment is wanted. Making it twice with the same ID
// attaches to the first.
type Spec struct {
	// ID is the environment's identity, a pattern of [a-z0-9-].
	ID string
	// Dir is the folder for the work, relative to the project root: .worktrees/issue-42-fix-parser.
	Dir string
	// Commit is the full object id to start from, Branch the local branch name to give it.
	Commit string
	Branch string
	// Image is what a driver with images starts from: a reference such as "node:22", or "file:" and
	// the path of a Dockerfile at Commit; empty is the driver's own choice. Drivers without images
	// pass over it.
	Image string
}

// Environment is one place of work. Nothing in it is trusted.
type Environment interface {
	// Exec runs a command inside. Command.Dir is relative to the work folder; empty is its root.
	process.Executor
	// Dir is the work folder as commands inside see it (an absolute path).
	Dir() string
	// Isolation says what stands between a command and the host: "bubblewrap", "container" or "none".
	Isolation() string
	// Fingerprint identifies what the environment stands on, whatever is done in it later: driver
	// and version, isolation, and the image or this machine's toolchain. Two environments with
	// the same one give the same set-up the same result.
	Fingerprint() string
	// Private is a folder of this machine that goes with the environment and is empty after Renew, for
	// what is kept for its commands. It may not be there yet, and no command sees it that does not ask for it.
	Private() string
	// Renew brings the environment to where its set-up begins: the tracked content of commit,
	// nothing untracked, nothing ignored, an empty HOME. Where an environment was kept under the
	// key it begins with what that one had instead, and warm is true. Nothing that an agent left
	// in the environment outlives it; keeping work is the caller's business, before.
	Renew(ctx context.Context, commit, key string) (warm bool, err error)
	// Keep makes what the set-up made part of the environment: folders of it that the project does
	// not ignore are neither recorded as a change nor removed by Reset. With a key that is not empty
	// all of it (ignored files, HOME, a container's own file system) is kept for every later Renew
	// of the project. No agent may have run since Renew. Keeping twice is no error; a driver that
	// cannot keep keeps nothing.
	Keep(ctx context.Context, key string) error
	// Forget drops what is kept under the key: it turned out not to work.
	Forget(ctx context.Context, key string) error
	// Record imports the work folder's present content into the project's repository as one
	// commit on top of parent, with the given message, and returns it; the parent's id is
	// returned when the content is the parent's. Nothing the agent put into its own git
	// metadata takes part. The host never runs git inside the folder.
	Record(ctx context.Context, parent string, message string) (Change, error)
	// Reset makes the work folder's tracked content that of commit (a full id known to the
	// project's repository) and removes untracked files that are not ignored. Uncommitted work
	// found there is kept on keepRef first, unless keepRef is empty.
	Reset(ctx context.Context, commit, keepRef string) error
	// Read returns a file of the work folder, at most limit bytes of it. Symbolic links are not
	// followed. A missing file is fs.ErrNotExist.
	Read(ctx context.Context, name string, limit int64) ([]byte, error)
}

// Change is what Record found.
type Change struct {
	Commit string
	Tree   string
	// Changed is false when the tree is the parent's.
	Changed bool
}

// Driver makes, finds and removes environments. One driver package per way to isolate.
type Driver interface {
	// Name is the name under which the configuration knows it.
	Name() string
	// Make creates the environment, or attaches to it if it is there. One that was made from
	// something else is an *OtherSpecError.
	Make(ctx context.Context, spec Spec) (Environment, error)
	// Attach finds the environment and changes nothing. One that is not there is fs.ErrNotExist.
	Attach(ctx context.Context, spec Spec) (Environment, error)
	// Remove deletes the environment's folder and everything it started. Removing what is not
	// there is no error. Keeping the work is the caller's business, before.
	Remove(ctx context.Context, spec Spec) error
	// Check says whether the driver can work here; a nil error and a note that names what is
	// missing means that it works with less isolation.
	Check(ctx context.Context) (note string, err error)
}

// ErrGone: somebody deleted the work folder. Making the environment again brings back what was recorded.
var ErrGone = errors.New("the environment's folder was deleted")

// ErrTooLarge: the work folder holds more new content than a change can sensibly have.
var ErrTooLarge = errors.New("the new content is too large to record")

// ErrOtherSpec: an environment with this ID was made from something else. Trying again does not help.
var ErrOtherSpec = errors.New("an environment with this id was made from another specification")

// OtherSpecError is ErrOtherSpec that says from what: Make attaches to the environment by Made.
type OtherSpecError struct{ Made Spec }

func (e *OtherSpecError) Error() string {
	return fmt.Sprintf("%v: it has commit %s on %s in %s", ErrOtherSpec, e.Made.Commit, e.Made.Branch, e.Made.Dir)
}

func (e *OtherSpecError) Unwrap() error { return ErrOtherSpec }

// ErrNoIsolation: nothing here can keep a command away from the host, and the
// configuration did not say that it may run without.
var ErrNoIsolation = errors.New("commands cannot be isolated from this machine")

// ErrNoContainer: no container can be made or started here: the engine, the image or a limit is
// not as it should be. The error that wraps it says what a person can do; trying again does not help.
var ErrNoContainer = errors.New("no container can be started")
