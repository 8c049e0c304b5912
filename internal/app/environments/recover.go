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

// Recover is the one action that resumes the work of an environment, named by its id or its issue's number. pr is the state of its
// pull request, empty to look it up.
func (e *Environments) Recover(ctx context.Context, name string, pr registry.PRState) (registry.ResumeAction, error) {
	entry, err := Entry(&e.Environments, name)
	if problem.CodeOf(err) == problem.NotFound {
		issue, notIssue := app.ParseIssue(name)
		found := e.ByIssue(issue)
		if notIssue != nil || len(found) == 0 {
			return registry.Recover(nil, registry.Surroundings{}), nil
		}
		entry, err = &found[0], nil
	}
	if err != nil {
		return registry.ResumeAction{}, err
	}
	seen, err := e.surroundings(ctx, entry, pr)
	if err != nil {
		return registry.ResumeAction{}, wire.Explained(err)
	}
	return registry.Recover(entry, seen), nil
}

// surroundings are what can be found out without asking another machine.
func (e *Environments) surroundings(ctx context.Context, entry *registry.Environment, pr registry.PRState) (seen registry.Surroundings, err error) {
	seen.PR = pr
	if pr == "" {
		pulls, err := wire.LocalForge(e.store)
		if err != nil {
			return seen, err
		}
		var found forge.PullRequest
		if entry.PRNumber != nil {
			found, err = pulls.PullRequest(ctx, *entry.PRNumber)
		} else {
			found, err = pulls.PullRequestOf(ctx, entry.Branch)
		}
		if err != nil && !errors.Is(err, forge.ErrNotFound) {
			return seen, err
		}
		if err == nil && found.Branch == entry.Branch { // otherwise the number may be another forge's
			seen.PR, seen.PRNumber = registry.PRState(found.State), found.Number
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

// refOf is the ref with the commits of a run's environment, empty if there is none.
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
