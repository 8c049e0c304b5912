package hosted

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

// Where branches are pushed to, if it is not the path of a fork.
const (
	// ForkAuto is the account's own fork, if the account may not push to the repository.
	ForkAuto = "auto"
	// ForkCreate is ForkAuto that makes the fork if there is none.
	ForkCreate = "create"
	// ForkNever is always the repository itself.
	ForkNever = "never"
)

// Source returns the path of the fork that branches are pushed to; empty if that is the repository itself. It makes none. With ForkCreate, one that
// is yet to be made has no path either, and isMade is false.
func (f *Forge) Source(ctx context.Context, r forge.Repository) (fork string, isMade bool, err error) {
	named := strings.Contains(f.Config.Fork, "/")
	if f.Config.Fork == ForkNever || r.MayPush && !named {
		return "", true, nil
	}
	refused := func(why string) error {
		return fmt.Errorf("%w: the account may not push to %s, and %s", forge.ErrRights, redact.Line(r.Path, maxTitle), why)
	}
	server, can := f.Server.(forge.Forked)
	if !can {
		return "", false, refused("the driver knows no forks")
	}
	name := ""
	if named {
		name = f.Config.Fork
	}
	found, err := server.Fork(ctx, name)
	_, makes := f.Server.(forge.Forker)
	switch {
	case errors.Is(err, forge.ErrNotFound) && f.Config.Fork == ForkCreate && makes:
		return "", false, nil
	case errors.Is(err, forge.ErrNotFound) && named:
		return "", false, fmt.Errorf("%w: there is no fork %q (forge.fork)", forge.ErrRights, name)
	case errors.Is(err, forge.ErrNotFound):
		return "", false, refused("has no fork of it; with fork: create below forge, Signalbox makes one")
	case err != nil:
		return "", false, fmt.Errorf("find the fork to push to: %w", err)
	case !found.MayPush:
		return "", false, fmt.Errorf("%w: the account may not push to the fork %s", forge.ErrRights, redact.Line(found.Path, maxTitle))
	}
	return found.Path, true, nil
}

// PushesTo is Source for people, before a run begins. A fork that is yet to be made has the name that servers give it.
func (f *Forge) PushesTo(ctx context.Context) (string, error) {
	repository, err := f.Server.Repository(ctx)
	if err != nil {
		return "", fmt.Errorf("ask the forge for the repository: %w", err)
	}
	fork, isMade, err := f.Source(ctx, repository)
	if err != nil || isMade {
		return fork, err
	}
	me, err := f.account(ctx)
	return me.Name + "/" + path.Base(repository.Path), err
}

// sources are the forks that runs push to, by the keys of their pull requests.
type sources struct {
	Forks map[string]string `json:"forks"`
}

// source returns the fork that a pull request comes from, and makes it if that is configured. It is remembered before anything is pushed: an account
// that gets the right to push meanwhile would open a second pull request.
func (f *Forge) source(ctx context.Context, pr forge.PullRequest) (fork string, err error) {
	if known, err := f.Git.PullRequestOf(ctx, pr.Branch); err == nil && known.Key == pr.Key {
		return known.Fork, nil
	}
	record := store.Record[sources](f.Store, issuesKind, "sources")
	known, err := record.Load(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if fork = known.Forks[pr.Key]; fork != "" || f.Config.Fork == ForkNever {
		return fork, nil
	}
	repository, err := f.Server.Repository(ctx)
	if err != nil {
		return "", fmt.Errorf("ask the forge for the repository: %w", err)
	}
	fork, isMade, err := f.Source(ctx, repository)
	if maker, can := f.Server.(forge.Forker); err == nil && !isMade && can {
		var made forge.Repository
		if made, err = maker.MakeFork(ctx); err != nil {
			return "", fmt.Errorf("make the fork to push to: %w", err)
		}
		fork = made.Path
	}
	if err != nil || fork == "" {
		return "", err
	}
	return fork, record.Update(ctx, func(all *sources) error {
		if all.Forks == nil {
			all.Forks = map[string]string{}
		}
		all.Forks[pr.Key] = fork
		return nil
	})
}

// othersMerge reports whether a pull request is merged by others: it comes from a fork, because the account may not write to the repository.
func (f *Forge) othersMerge(ctx context.Context, pr forge.PullRequest) (bool, error) {
	if pr.Fork == "" {
		return false, nil
	}
	repository, err := f.Server.Repository(ctx)
	if err != nil {
		return false, fmt.Errorf("ask the forge for the repository: %w", err)
	}
	return !repository.MayMerge, nil
}
