package environments

import (
	"context"
	"errors"
	"os"

	"signalbox/internal/app"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Recover is the one action that goes on with the work of an environment, named by its id or its issue's number. pr is what became
// of its pull request, empty where that is to be looked up.
func (e *Environments) Recover(ctx context.Context, name string, pr registry.PRState) (registry.ResumeAction, error) {
	entry, err := e.named(name)
	if err != nil {
		return registry.ResumeAction{}, err
	}
	if entry == nil {
		return registry.Recover(nil, registry.Surroundings{}), nil
	}
	seen, err := e.surroundings(ctx, entry, pr)
	if err != nil {
		return registry.ResumeAction{}, wire.Explained(err)
	}
	return registry.Recover(entry, seen), nil
}

// named is the entry that an id names or begins, or the one to go on with of the issue with that number; nil if there is neither.
func (e *Environments) named(name string) (*registry.Environment, error) {
	entry, err := Entry(&e.Environments, name)
	if err == nil || problem.CodeOf(err) != problem.NotFound {
		return entry, err
	}
	issue, err := app.ParseIssue(name)
	if err != nil {
		return nil, nil
	}
	if found := e.ByIssue(issue); len(found) > 0 {
		return &found[0], nil
	}
	return nil, nil
}

// surroundings are what can be seen from here without asking another machine.
func (e *Environments) surroundings(ctx context.Context, entry *registry.Environment, pr registry.PRState) (seen registry.Surroundings, err error) {
	seen.PR = pr
	if pr == "" {
		if seen.PR, seen.PRNumber, err = e.recordedPR(ctx, entry); err != nil {
			return seen, err
		}
	}
	run, err := runOf(ctx, e.store, entry.EnvID)
	if err != nil || run == nil || run.Details.EnvRemoved {
		return seen, err
	}
	dir, err := e.store.Abs(run.Details.EnvPath)
	if err != nil {
		return seen, err
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		return seen, err
	}
	seen.Gone = true
	seen.Ref, err = e.refOf(ctx, run)
	return seen, err
}

// recordedPR is what the local forge knows of the entry's pull request. A
// number alone may be another forge's: the branch must be the same.
func (e *Environments) recordedPR(ctx context.Context, entry *registry.Environment) (registry.PRState, int, error) {
	pulls, err := wire.LocalForge(e.store)
	if err != nil {
		return "", 0, err
	}
	var found forge.PullRequest
	if entry.PRNumber != nil {
		found, err = pulls.PullRequest(ctx, *entry.PRNumber)
	} else {
		found, err = pulls.PullRequestOf(ctx, entry.Branch)
	}
	if errors.Is(err, forge.ErrNotFound) || err == nil && found.Branch != entry.Branch {
		return "", 0, nil
	}
	return registry.PRState(found.State), found.Number, err
}

// refOf is the ref that leads to the commits of a run's environment; empty if there is none.
func (e *Environments) refOf(ctx context.Context, run *workflow.Run) (string, error) {
	root, err := e.store.Abs(".")
	if err != nil {
		return "", err
	}
	repo, err := git.Open(ctx, e.opener.GitHost(), root)
	if errors.Is(err, git.ErrNotRepository) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, ref := range []string{"refs/heads/" + run.Details.Branch, "refs/signalbox/environments/" + run.Details.EnvID, run.Details.KeptRef} {
		if ref == "" {
			continue
		}
		_, err := repo.Resolve(ctx, ref)
		if err == nil || !errors.Is(err, git.ErrNotFound) {
			return ref, err
		}
	}
	return "", nil
}
