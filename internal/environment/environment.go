// Package environment owns the port to isolated working folders: what an environment is made from, what can be done in it, and how a failed setup
// command is classified. It does not know what the work is.
package environment

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"signalbox/internal/process"
)

// Spec describes an environment. Making it twice with the same ID attaches to the first.
type Spec struct {
	// ID is the environment's identity; it matches [a-z0-9-]+.
	ID string
	// Dir is the work folder, relative to the project root: .worktrees/issue-42-fix-parser.
	Dir string
	// Commit is the full id of the commit to start from; Branch is the local branch name for it.
	Commit string
	Branch string
	// Image is what a driver with images starts from: a reference such as "node:22", or "file:" and the path of a Dockerfile at Commit; empty means
	// the driver's choice. Drivers without images ignore it.
	Image string
}

// Environment is one isolated working folder. Nothing in it is trusted.
type Environment interface {
	// Exec runs a command inside. Command.Dir is relative to the work folder; empty means its root.
	process.Executor
	// Dir returns the work folder as commands inside see it, an absolute path.
	Dir() string
	// Isolation names what separates a command from the host: "bubblewrap", "container" or "none".
	Isolation() string
	// Fingerprint identifies the base of the environment, independent of later work in it: driver and version, isolation, and the image or this
	// machine's toolchain. In two environments with the same fingerprint, the same setup has the same result.
	Fingerprint() string
	// Private is a folder of the host that belongs to the environment, for data of its commands. Restore empties it. It may not exist yet, and only
	// commands that ask for it see it.
	Private() string
	// Restore returns the environment to the state before its setup: the tracked content of commit, nothing untracked, nothing ignored, an empty
	// HOME. If a snapshot was kept under the key, the environment starts from that instead, and warm is true. Nothing that an agent left in the
	// environment survives; the caller saves the work first.
	Restore(ctx context.Context, commit, key string) (warm bool, err error)
	// Snapshot makes the setup's result part of the environment: Record ignores, and Reset keeps, the folders that the setup made, even those the
	// project does not ignore. If key isn't empty, everything (ignored files, HOME, a container's own file system) is also kept as a snapshot for
	// later Restores in the project. No agent may have run since Restore. Doing it twice is harmless; a driver without snapshots keeps none.
	Snapshot(ctx context.Context, key string) error
	// Evict deletes the snapshot kept under the key, because it turned out not to work.
	Evict(ctx context.Context, key string) error
	// Record imports the work folder's present content into the project's repository as one commit on top of parent, with the given message. If the
	// content is the parent's, it returns the parent's id. It ignores any git metadata that the agent wrote; the host never runs git inside the
	// folder.
	Record(ctx context.Context, parent string, message string) (Change, error)
	// Reset makes the work folder's tracked content that of commit (a full id known to the project's repository) and removes untracked files that
	// are not ignored. Uncommitted work is first saved on keepRef, unless keepRef is empty.
	Reset(ctx context.Context, commit, keepRef string) error
	// Read returns at most limit bytes of a file in the work folder. It follows no symbolic links. A missing file is fs.ErrNotExist.
	Read(ctx context.Context, name string, limit int64) ([]byte, error)
}

// Change is the result of Record.
type Change struct {
	Commit string
	Tree   string
	// Changed is false if the tree is the parent's.
	Changed bool
}

// Driver makes, finds and removes environments. Each kind of isolation has one driver package. After a crash at any point, calling the same method
// again completes it.
type Driver interface {
	// Name is the driver's name in the configuration.
	Name() string
	// Make creates the environment, or attaches to it if it exists. If the existing one was made from another Spec, it returns *OtherSpecError.
	Make(ctx context.Context, spec Spec) (Environment, error)
	// Attach finds the environment and changes nothing. A missing one is fs.ErrNotExist.
	Attach(ctx context.Context, spec Spec) (Environment, error)
	// Remove deletes the environment's folder and ends everything it started. A missing environment is no error. The caller saves the work first.
	Remove(ctx context.Context, spec Spec) error
	// Check returns an error if the driver can't work on this machine. A nil error with a note means that it works with less isolation; the note
	// names what is missing.
	Check(ctx context.Context) (note string, err error)
}

// ErrGone: the work folder was deleted. Making the environment again restores what was recorded.
var ErrGone = errors.New("the environment's folder was deleted")

// ErrTooLarge: the work folder holds more new content than a change can sensibly have.
var ErrTooLarge = errors.New("the new content is too large to record")

// ErrOtherSpec: an environment with this ID was made from another Spec. Trying again does not help.
var ErrOtherSpec = errors.New("an environment with this id was made from another specification")

// OtherSpecError is an ErrOtherSpec that says which Spec: with Made, Make attaches to the environment.
type OtherSpecError struct{ Made Spec }

func (e *OtherSpecError) Error() string {
	return fmt.Sprintf("%v: it has commit %s on %s in %s", ErrOtherSpec, e.Made.Commit, e.Made.Branch, e.Made.Dir)
}

func (e *OtherSpecError) Unwrap() error { return ErrOtherSpec }

// ErrNoIsolation: commands can't be isolated from this machine, and the configuration doesn't allow running without. A person installs a sandbox or
// changes the configuration.
var ErrNoIsolation = errors.New("commands cannot be isolated from this machine")

// ErrNoContainer: no container can be made or started, because of the engine, the image or a limit. The wrapping error says what a person can do;
// trying again does not help.
var ErrNoContainer = errors.New("no container can be started")

// SubmoduleError: files of submodules are unavailable, so a commit can't be worked on. Trying again helps only if Passing is set.
type SubmoduleError struct {
	// Problems are one sentence each, and name the submodule.
	Problems []string
	// Hosts are those that environment.allow would have to name.
	Hosts []string
	// Closed: the network is closed altogether.
	Closed bool
	// Passing: a network or a server does not answer.
	Passing bool
}

func (e *SubmoduleError) Error() string { return strings.Join(e.Problems, "; ") }
