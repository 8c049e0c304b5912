package perform

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"signalbox/internal/git"
	"signalbox/internal/place"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

// branchAt is the commit that the run's branch is at; empty when there is no such branch.
func (x *execution) branchAt(ctx context.Context) (string, error) {
	at, err := x.Repo.Resolve(ctx, x.branchRef())
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find branch %q: %w", x.run.Details.Branch, err)
	}
	return at, nil
}

// Look implements engine.Performer. It finds out whether a person moved the branch. What they put there is on a ref first,
// whatever is then decided about it.
func (p *Performer) Look(ctx context.Context, run workflow.Run) (workflow.Event, error) {
	x := p.of(run)
	j := x.run.Details
	if j.Head == "" || j.EnvRemoved || !x.run.UnderWay() {
		return nil, nil //nolint:nilnil // there is nothing to tell
	}
	at, err := x.branchAt(ctx)
	if err != nil || at == j.Head {
		return nil, err
	}
	if at == "" {
		return workflow.BranchMoved{Commit: at}, nil
	}
	e, err := x.branchFacts(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("look at branch %q: %w", j.Branch, err)
	}
	return e, nil
}

// maxAuthors is how many authors of a person's commits are named.
const maxAuthors = 3

func (x *execution) branchFacts(ctx context.Context, at string) (e workflow.BranchMoved, err error) {
	j := x.run.Details
	e = workflow.BranchMoved{Commit: at, KeptRef: place.KeptRef(&x.run, at)}
	if e.OnTop, err = x.Repo.IsAncestor(ctx, j.Head, at); err != nil {
		return e, err
	}
	commits, err := x.Repo.Log(ctx, j.Head, at, 1000)
	if err != nil {
		return e, err
	}
	e.Commits = len(commits)
	for _, c := range commits {
		if name := redact.Line(x.Redact.String(c.Author), 60); !slices.Contains(e.By, name) && len(e.By) < maxAuthors {
			e.By = append(e.By, name)
		}
	}
	if e.Commits == 0 { // it was only set back
		return e, nil
	}
	if err = x.Places.SaveWork(ctx, &x.run, at); err == nil && e.OnTop {
		e.Whole, e.Concerns, e.Tests, err = x.wholeFacts(ctx, at)
	}
	for _, c := range commits { // what they say is published with them; Signalbox masks its own messages
		text := []byte(c.Message + "\n" + c.Author)
		for _, f := range append(x.Redact.Find(text), redact.Concealed(text)...) {
			found := x.concern("", f)
			found.Commit = c.ID
			e.Concerns = append(e.Concerns, found)
		}
	}
	return e, err
}

// wholeFacts are the files of the whole change at a commit, what in it may worry a person, and the tests that it touches.
func (x *execution) wholeFacts(ctx context.Context, at string) (files []policy.FileChange, concerns []policy.Concern, tests []policy.TestFile, err error) {
	whole, err := x.whole(ctx, at)
	if err != nil {
		return nil, nil, nil, err
	}
	if concerns, err = x.concerns(ctx, whole); err == nil {
		tests, err = x.testFiles(ctx, whole)
	}
	return x.fileChanges(ctx, whole), concerns, tests, err
}

// whole is the change with a person's commits. What they merged of the base branch is no part of it.
func (x *execution) whole(ctx context.Context, at string) ([]git.Change, error) {
	from := x.run.Details.BaseCommit
	base, err := x.Repo.Resolve(ctx, "refs/heads/"+x.run.Details.Base)
	if err == nil {
		from, err = x.Repo.MergeBase(ctx, base, at)
	}
	if errors.Is(err, git.ErrNotFound) {
		from, err = x.run.Details.BaseCommit, nil
	}
	if err != nil {
		return nil, err
	}
	return x.Repo.Changes(ctx, from, at)
}
