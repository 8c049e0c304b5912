// Package local is the forge of a project on one machine. Requests are files, pull requests are branches
// with a record beside them, checks are the project's own tests on the exact merge candidate, and a merge
// is a merge commit. It runs no tests itself: the caller passes in a function that does.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/store"
)

// Config configures the forge. Repo, Store and Test are required.
type Config struct {
	Repo  *git.Repo
	Store *store.Store
	// Root is the project folder that holds requests/; empty means the repository's top folder.
	Root string
	// Test runs the project's tests on a candidate in a fresh isolated clone. An error means that there is
	// no verdict, for example because the clone could not be made.
	Test func(context.Context, Candidate) (Verdict, error)
	// Identity is the author of merge commits; the zero value means the user as git knows them. Sign says
	// which merges are signed; empty means none.
	Identity git.Identity
	Sign     git.Signing
	// Unpublished: nothing is pushed, and the remote is never contacted.
	Unpublished bool
	// Hosted: the pull requests are a server's, and this is only their git half. Records then have the server's numbers, in a folder of
	// their own, because this project may have had pull requests on this machine before. A branch stays on the remote until Unpublish: to
	// delete the branch of an open pull request closes it.
	Hosted bool
	// Forks returns what git pushes to for the path of a fork on the server: a remote's name, or an address. nil: there are no forks.
	Forks  func(ctx context.Context, path string) (string, error)
	Clock  func() time.Time
	Logger *slog.Logger
}

// Candidate is a merge commit that is tested before the base branch moves to it. All ids are full ids.
type Candidate struct {
	// Pull is the pull request's number; Request is the id of its request.
	Pull    int
	Request string
	// Base and Head are the commits to merge, and Tree is the result.
	Base, Head, Tree string
	// Commit is a merge commit of Base and Head with Tree. No ref points to it.
	Commit string
}

// Verdict is the result of the tests.
type Verdict struct {
	Passed bool
	// Unsettled: the tests ran out of time or memory. The verdict is not stored: the same content may pass
	// on a less busy machine.
	Unsettled bool
	Command   string
	LogPath   string
	Summary   string
	Duration  time.Duration
	// Known has the meaning of forge.Check.Known.
	Known []string
}

// Forge keeps pull requests in .signalbox/pulls/<n>.json and its comments on requests in
// .signalbox/requests/<n>.json.
type Forge struct {
	repo     *git.Repo
	store    *store.Store
	root     string
	test     func(context.Context, Candidate) (Verdict, error)
	identity git.Identity
	sign     git.Signing
	hidden   bool
	hosted   bool
	forks    func(context.Context, string) (string, error)
	folder   string
	now      func() time.Time
	log      *slog.Logger
	read     readings
}

var (
	_ forge.Forge    = (*Forge)(nil)
	_ forge.Branches = (*Forge)(nil)
	_ forge.Finder   = (*Forge)(nil)
)

// New returns the forge. It reads and writes nothing.
func New(config Config) *Forge {
	f := &Forge{
		repo: config.Repo, store: config.Store, root: config.Root, test: config.Test,
		identity: config.Identity, sign: cmp.Or(config.Sign, git.SignNever), hidden: config.Unpublished,
		hosted: config.Hosted, forks: config.Forks, folder: pullsFolder, now: config.Clock, log: config.Logger,
	}
	if f.hosted {
		f.folder = hostedFolder
	}
	if f.root == "" {
		f.root = f.repo.Root()
	}
	if f.now == nil {
		f.now = time.Now
	}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	return f
}

// Name returns the driver's name in the configuration.
func (f *Forge) Name() string { return "local" }

func branchRef(branch string) string { return "refs/heads/" + branch }

// baseAt returns the present commit of a branch to merge into, or ErrNoBase.
func (f *Forge) baseAt(ctx context.Context, branch string) (string, error) {
	at, err := f.repo.Resolve(ctx, branchRef(branch))
	switch {
	case errors.Is(err, git.ErrNotFound):
		return "", fmt.Errorf("find base branch %q: %w", branch, forge.ErrNoBase)
	case err != nil:
		return "", fmt.Errorf("find base branch %q: %w", branch, err)
	}
	return at, nil
}
