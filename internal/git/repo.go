// Package git owns calling the git program safely: on the project's trusted repository, with full ids
// and full ref names, without hooks and file system monitors. It doesn't know why something is committed
// or merged, and it never runs git inside a folder that an agent can write.
package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"signalbox/internal/lazy"
	"signalbox/internal/process"

	"signalbox/internal/git/gitcmd"
)

var (
	// ErrNoGit: there is no git program in PATH.
	ErrNoGit = errors.New("git is not installed or not in PATH")
	// ErrTooOld: git lacks a feature that Signalbox needs; see minMajor.
	ErrTooOld = errors.New("git is too old")
	// ErrNotRepository: the folder is not in the work tree of a git repository.
	ErrNotRepository = errors.New("not in the work tree of a git repository")
	// ErrBare: the repository has no work tree. It is an ErrNotRepository, too.
	ErrBare = fmt.Errorf("a bare repository, so %w", ErrNotRepository)
	// ErrUnreadable: git can't read the repository, often its configuration. It is an ErrNotRepository, too.
	ErrUnreadable = fmt.Errorf("git can't read it, so %w", ErrNotRepository)
	// ErrNotYours: the repository belongs to another user of this machine, and the user's git doesn't
	// trust it. The error is a *NotYoursError.
	ErrNotYours = errors.New("the repository belongs to another user")
	// ErrNotFound: no such ref, commit or remote.
	ErrNotFound = errors.New("not found")
	// ErrRefMoved: a ref is not where the caller expected it. Look again before deciding.
	ErrRefMoved = errors.New("the ref is not at the expected commit")
	// ErrLocked: another git program holds a lock in the repository. A later retry helps.
	ErrLocked = gitcmd.ErrLocked
	// ErrNoAnswer: git did not end within its command's time limit.
	ErrNoAnswer = gitcmd.ErrNoAnswer
	// ErrUnreachable: a remote was not reached, or the connection ended before the answer did. A later
	// retry may help.
	ErrUnreachable = gitcmd.ErrUnreachable
	// ErrNoSSH: the remote is reached by ssh, and there is no such program.
	ErrNoSSH = gitcmd.ErrNoSSH
	// ErrRejected: the remote refused a push for a reason of its own (a protected branch, a hook). A
	// retry does not help.
	ErrRejected = errors.New("the remote refused the push")
	// ErrInvalid: an id, ref, branch, remote or path is not safe to use.
	ErrInvalid = errors.New("invalid")
)

// Git merges two commits without a work tree (merge-tree --write-tree) since 2.38.
const minMajor, minMinor = 2, 38

// Repo is a repository that belongs to the user: its configuration is trusted, the content of its
// commits is not. It is safe for concurrent use.
type Repo struct {
	git        *gitcmd.Runner
	objectsDir string

	// asked is a git that answers questions as long as the repository is in use.
	asked    *gitcmd.Dialog
	personal *personal
	config   *configuration
	compared *compared
}

// Open finds the repository around dir. In a linked work tree Root is that tree's top folder, and GitDir
// is the folder that all work trees share.
func Open(ctx context.Context, executor process.Executor, dir string) (*Repo, error) {
	r := &Repo{git: &gitcmd.Runner{Exec: executor}}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	if err := r.checkVersion(ctx, dir); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	if err := r.locate(ctx, dir); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, notRepository(dir, err))
	}
	r.config, r.personal, r.compared = &configuration{}, &personal{}, &compared{}
	r.asked = r.git.NewDialog("-c", bigFile, "cat-file", "--batch-command")
	runtime.AddCleanup(r, (*gitcmd.Dialog).Close, r.asked)
	return r, nil
}

// locate asks for the three folders at once, or one by one if the name of one has several lines. Only
// the user's own git configuration says whether to trust another owner's repository.
func (r *Repo) locate(ctx context.Context, dir string) error {
	ask := func(what ...string) (string, error) {
		out, err := r.git.Run(ctx, gitcmd.Call{Args: append([]string{"rev-parse", "--path-format=absolute"}, what...), Dir: dir, User: r.git.Trusted})
		return strings.TrimSuffix(string(out), "\n"), err
	}
	wanted := []string{"--show-toplevel", "--git-common-dir", "--git-path", "objects"}
	all, err := ask(wanted...)
	if notYours(err) {
		r.git.Trusted = true
		all, err = ask(wanted...)
	}
	if places := strings.Split(all, "\n"); err != nil || len(places) == 3 {
		if err == nil {
			r.git.Root, r.git.GitDir, r.objectsDir = places[0], places[1], places[2]
		}
		return err
	}
	if r.git.Root, err = ask("--show-toplevel"); err != nil {
		return err
	}
	if r.git.GitDir, err = ask("--git-common-dir"); err != nil {
		return err
	}
	r.objectsDir, err = ask("--git-path", "objects")
	return err
}

func (r *Repo) checkVersion(ctx context.Context, dir string) error {
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"version"}, Dir: dir})
	if errors.Is(err, process.ErrNotFound) {
		return ErrNoGit
	}
	if err != nil {
		return err
	}
	fields := strings.Fields(string(out)) // "git version 2.39.5 (Apple Git-154)"
	if len(fields) < 3 {
		return fmt.Errorf("%w: it calls itself %q", ErrTooOld, gitcmd.Clean(string(out)))
	}
	numbers := strings.SplitN(fields[2], ".", 3)
	major, err := strconv.Atoi(numbers[0])
	minor := 0
	if err == nil && len(numbers) > 1 {
		minor, err = strconv.Atoi(numbers[1])
	}
	if err != nil || major < minMajor || major == minMajor && minor < minMinor {
		return fmt.Errorf("%w: this is %s, Signalbox needs %d.%d or newer", ErrTooOld, gitcmd.Clean(fields[2]), minMajor, minMinor)
	}
	return nil
}

// NotYoursError is ErrNotYours for one repository.
type NotYoursError struct {
	// Dir is the folder that safe.directory would have to name.
	Dir string
}

func (e *NotYoursError) Error() string { return ErrNotYours.Error() }
func (e *NotYoursError) Unwrap() error { return ErrNotYours }

var ownedDir = lazy.Pattern(`(?s)detected dubious ownership in repository at '(.+?)'\n`)

// notYours reports whether git refused a repository because of its owner.
func notYours(err error) bool {
	var failed *gitcmd.Error
	return errors.As(err, &failed) && strings.HasPrefix(failed.Message, "fatal: detected dubious ownership")
}

// notRepository keeps git's words if they say more.
func notRepository(dir string, err error) error {
	var failed *gitcmd.Error
	if errors.As(err, &failed) && notYours(err) {
		if named := ownedDir().FindStringSubmatch(failed.Stderr); named != nil {
			dir = named[1]
		}
		return &NotYoursError{Dir: dir}
	}
	if errors.As(err, &failed) && failed.Code == 128 {
		if strings.HasPrefix(failed.Message, "fatal: not a git repository") {
			return ErrNotRepository
		}
		switch {
		case strings.Contains(failed.Message, "bare repository"):
			return fmt.Errorf("%w (%s)", ErrBare, failed.Message)
		case strings.Contains(failed.Message, "must be run in a work tree"):
			return fmt.Errorf("%w (%s)", ErrNotRepository, failed.Message)
		}
		return fmt.Errorf("%w (%s)", ErrUnreadable, failed.Message)
	}
	return err
}

// Root returns the top folder of the work tree, an absolute path.
func (r *Repo) Root() string { return r.git.Root }

// GitDir returns the folder of refs and configuration, which all work trees share.
func (r *Repo) GitDir() string { return r.git.GitDir }

// ObjectsDir returns the folder that holds the objects.
func (r *Repo) ObjectsDir() string { return r.objectsDir }
