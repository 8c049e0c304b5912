package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"signalbox/internal/git"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// branchAt is the commit that the run's branch is at; empty when there is no such branch.
func (w *work) branchAt(ctx context.Context) (string, error) {
	at, err := w.Repo.Resolve(ctx, w.branchRef())
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find branch %q: %w", w.run.Journey.Branch, err)
	}
	return at, nil
}

// lookAtBranch tells Decide where a person put the branch, before anything else is done. What lies
// there is on a ref first, whatever is then decided about it. It reports whether the run changed.
func (w *work) lookAtBranch(ctx context.Context) (moved bool, err error) {
	j := w.run.Journey
	if j.Head == "" || j.EnvRemoved || !w.run.UnderWay() {
		return false, nil
	}
	at, err := w.branchAt(ctx)
	if err != nil || at == j.Head {
		return false, err
	}
	e := workflow.BranchMoved{Commit: at}
	if at != "" {
		if e, err = w.branchFacts(ctx, at); err != nil {
			return false, fmt.Errorf("look at branch %q: %w", j.Branch, err)
		}
	}
	before := w.run.Journey.Transition
	err = w.decide(ctx, e)
	return w.run.Journey.Transition != before, err
}

// maxAuthors is how many authors of a person's commits are named.
const maxAuthors = 3

func (w *work) branchFacts(ctx context.Context, at string) (e workflow.BranchMoved, err error) {
	j := w.run.Journey
	e = workflow.BranchMoved{Commit: at, KeptRef: w.keptRef(at)}
	if e.OnTop, err = w.Repo.IsAncestor(ctx, j.Head, at); err != nil {
		return e, err
	}
	commits, err := w.Repo.Log(ctx, j.Head, at, 1000)
	if err != nil {
		return e, err
	}
	e.Commits = len(commits)
	for _, c := range commits {
		if name := redact.Line(w.Redact.String(c.Author), 60); !slices.Contains(e.By, name) && len(e.By) < maxAuthors {
			e.By = append(e.By, name)
		}
	}
	if e.Commits == 0 { // it was only set back
		return e, nil
	}
	if err = w.keep(ctx, at); err == nil && e.OnTop {
		err = w.wholeFacts(ctx, at, &e)
	}
	e.Concerns = append(e.Concerns, w.concernsOfMessages(commits)...)
	return e, err
}

func (w *work) wholeFacts(ctx context.Context, at string, e *workflow.BranchMoved) error {
	whole, err := w.whole(ctx, at)
	if err != nil {
		return err
	}
	e.Whole = w.fileChanges(ctx, whole)
	if e.Concerns, err = w.concerns(ctx, whole); err == nil {
		e.Tests, err = w.testFiles(ctx, whole)
	}
	return err
}

// whole is the change with a person's commits. What they merged of the base branch is no part of it.
func (w *work) whole(ctx context.Context, at string) ([]git.Change, error) {
	from := w.run.Journey.BaseCommit
	base, err := w.Repo.Resolve(ctx, "refs/heads/"+w.run.Journey.Base)
	if err == nil {
		from, err = w.Repo.MergeBase(ctx, base, at)
	}
	if errors.Is(err, git.ErrNotFound) {
		from, err = w.run.Journey.BaseCommit, nil
	}
	if err != nil {
		return nil, err
	}
	return w.Repo.Changes(ctx, from, at)
}
