// Package hosted is the forge of a project whose issues and pull requests are on a server. It joins the two halves: the server, which shows
// and says, and git on this machine, which pushes, tests and merges. Markers in the texts that it writes are the keys, so that nothing is
// opened, written or merged twice, whatever was killed and whichever answer was lost. It speaks no vendor's API, and runs neither git nor tests.
package hosted

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/store"
)

// Git is the half of a forge that works on this machine. It keeps its records under the server's numbers.
type Git interface {
	// Publish pushes the branch of a pull request that may have no number yet, and returns it with its base and, if it is recorded, its number.
	Publish(ctx context.Context, pr forge.PullRequest) (forge.PullRequest, error)
	// OpenPullRequest records pr under pr.Number, or updates the record.
	OpenPullRequest(ctx context.Context, pr forge.PullRequest) (forge.PullRequest, error)
	PullRequest(ctx context.Context, number int) (forge.PullRequest, error)
	PullRequestOf(ctx context.Context, branch string) (forge.PullRequest, error)
	// Describe records another text of a pull request.
	Describe(ctx context.Context, number int, body string) error
	ClosePullRequest(ctx context.Context, number int) error
	// Unpublish deletes the remote's branch of a finished pull request.
	Unpublish(ctx context.Context, number int) error
	// Checks tests the merge candidate.
	Checks(ctx context.Context, number int) (forge.Check, error)
	// BranchCheck returns the last verdict of this machine on the branch's present content, or forge.ErrNoChecks.
	BranchCheck(ctx context.Context, branch string) (forge.Check, error)
	// Tip returns the remote's commit of a branch, and reports whether the branch has commits here that the remote lacks. It moves nothing.
	Tip(ctx context.Context, branch string) (commit string, ahead bool, err error)
	MayMerge(ctx context.Context, base string) error
	// MayOffer reports, as MayMerge does, what would refuse a pull request from a fork whose merge is others' to make.
	MayOffer(ctx context.Context, fork, base string) error
	// Touched returns the paths that differ between a base branch and head, and the first of files that the base branch has.
	Touched(ctx context.Context, base, head string, files []string) (paths []string, file string, err error)
	// Follow brings the remote's commits of a base branch here, and reports whether it has some that the remote lacks.
	Follow(ctx context.Context, base string) (ahead bool, err error)
	// Merge makes the tested merge commit and pushes it to the base.
	Merge(ctx context.Context, number int, checked forge.Check, message string) (forge.PullRequest, error)
	// MergeBy has merge make the merge, if that makes the tested tree, and records it. No other process here merges meanwhile.
	MergeBy(ctx context.Context, number int, checked forge.Check, merge func(context.Context) (commit string, err error)) (forge.PullRequest, error)
	// RecordMerge records what a server merged, and returns it with forge.ErrUntested if it is no tested tree.
	RecordMerge(ctx context.Context, number int, commit string) (forge.PullRequest, error)
}

// Config configures the forge. Server, Git, Store and Clock are required.
type Config struct {
	Server forge.Server
	Git    Git
	Store  *store.Store
	// Merge is the way to merge that the configuration asks for; empty means the best that the server allows.
	Merge Way
	// Fork is ForkAuto, ForkCreate, ForkNever, or the path of the fork that branches are pushed to; empty means ForkAuto.
	Fork string
	// Reviewers are asked to review a pull request once it is ready: names of people, and of teams, which have a slash.
	Reviewers []string
	// WithoutCI: the project has no CI on the server, so the tests on this machine are enough if the server reports nothing and asks for nothing.
	WithoutCI bool
	// Statuses: our own verdicts are published on the head of the pull request. Labels: the issue has a label that says how its run stands.
	Statuses, Labels bool
	// Told and ToldOfPeople report whether webhooks tell of checks, and of what people do, so that looks can be rare; nil means that none do.
	Told, ToldOfPeople func() bool

	Clock  func() time.Time
	Logger *slog.Logger
}

// Forge is safe for use by several goroutines and processes.
type Forge struct {
	Config
	account func(context.Context) (forge.Account, error)
}

var (
	_ forge.Forge     = (*Forge)(nil)
	_ forge.Branches  = (*Forge)(nil)
	_ forge.Mergeable = (*Forge)(nil)
	_ forge.Announcer = (*Forge)(nil)
	_ forge.Rerunner  = (*Forge)(nil)
)

// New returns the forge. It asks the server nothing.
func New(config Config) *Forge {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	return &Forge{Config: config, account: once(func(ctx context.Context) (forge.Account, error) {
		return config.Server.Whoami(forge.Recent(ctx, accountFor))
	})}
}

// accountFor is how long another process's answer to who we are is good.
const accountFor = time.Hour

// once returns ask's first answer that is no error, for the life of a process.
func once[T any](ask func(context.Context) (T, error)) func(context.Context) (T, error) {
	var mu sync.Mutex
	var answer T
	known := false
	return func(ctx context.Context) (T, error) {
		mu.Lock()
		defer mu.Unlock()
		if known {
			return answer, nil
		}
		got, err := ask(ctx)
		if err == nil {
			answer, known = got, true
		}
		return got, err
	}
}

// Name returns the driver's name in the configuration.
func (f *Forge) Name() string { return f.Server.Kind() }

// MayMerge implements forge.Mergeable: it asks for everything that would refuse a merge, before a run costs anything.
func (f *Forge) MayMerge(ctx context.Context, base string) error {
	me, err := f.account(ctx)
	if err != nil {
		return fmt.Errorf("ask the forge who we are: %w", err)
	}
	repository, err := f.Server.Repository(ctx)
	if err != nil {
		return fmt.Errorf("ask the forge for the repository: %w", err)
	}
	fork, _, err := f.Source(ctx, repository)
	if err != nil {
		return err
	}
	if !repository.MayPush && !repository.MayMerge && f.Config.Fork != ForkNever {
		return f.mayOffer(ctx, fork, base)
	}
	way, err := f.way(ctx, repository, base)
	if err != nil {
		return err
	}
	if !repository.MayPush {
		return fmt.Errorf("%w: %q may not push to %s", forge.ErrRights, me.Name, repository.Path)
	}
	if way != Exact && !repository.MayMerge {
		return fmt.Errorf("%w: %q may not merge pull requests of %s", forge.ErrRights, me.Name, repository.Path)
	}
	ahead, err := f.Git.Follow(ctx, base)
	if err != nil {
		return err
	}
	if ahead && way != Exact {
		return fmt.Errorf("%w: %q has commits here that the forge lacks, and it makes the merge itself", forge.ErrRemote, base)
	}
	if err := f.Git.MayMerge(ctx, base); err != nil || fork == "" {
		return err
	}
	return f.Git.MayOffer(ctx, fork, base)
}

// mayOffer asks for what would refuse a pull request that others merge. A fork that is yet to be made refuses nothing.
func (f *Forge) mayOffer(ctx context.Context, fork, base string) error {
	ahead, err := f.Git.Follow(ctx, base)
	if err != nil {
		return err
	}
	if ahead {
		return fmt.Errorf("%w: %q has commits here that the forge lacks, and the pull request would offer them too", forge.ErrRemote, base)
	}
	if fork == "" {
		return nil
	}
	return f.Git.MayOffer(ctx, fork, base)
}
