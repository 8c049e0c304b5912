package cli

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/git"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// giveUp ends the run if it is not over, which removes its environment, and removes its branch if
// that holds nothing that would be lost.
func (c *sessionCleanup) giveUp(ctx context.Context, p *project, found store.RunSummary) error {
	if !found.Run.State.Final() {
		err := p.cancel(ctx, found)
		if err != nil && codeOf(err) != exitCanceled {
			return err
		}
		if found, err = p.find(ctx, found.Ref.RequestID); err != nil {
			return err
		}
	}
	if err := p.printKept(ctx, &found.Run); err != nil {
		return err
	}
	return p.removeBranch(ctx, &found.Run)
}

// printKept names the work that the run put aside before its end, such as a session's when it was resumed.
func (p *project) printKept(ctx context.Context, run *workflow.Run) error {
	refs, err := p.repo.Refs(ctx, fmt.Sprintf("refs/signalbox/kept/%d", run.Journey.Number))
	for _, ref := range refs {
		if ref.Name != run.Journey.KeptRef {
			p.print("kept earlier; take it over: git merge %s\n", ref.Name)
		}
	}
	return err
}

// cancel gives a run up as "stop --cancel" does.
func (p *project) cancel(ctx context.Context, found store.RunSummary) error {
	return p.order(ctx, found.Ref.RequestID, func(*workflow.Run) error { return nil }, func(_ *workflow.Run, s *workflow.Signals) {
		s.Commands = append(s.Commands, personal(workflow.CommandCancel, "", ""))
	})
}

// removeBranch removes a run's branch if the base branch or the kept ref has all of it.
func (p *project) removeBranch(ctx context.Context, run *workflow.Run) error {
	branch := "refs/heads/" + run.Journey.Branch
	at, err := p.repo.Resolve(ctx, branch)
	if errors.Is(err, git.ErrNotFound) {
		return nil
	}
	for _, ref := range []string{"refs/heads/" + run.Journey.Base, run.Journey.KeptRef} {
		if err != nil || ref == "" {
			continue
		}
		holds, lookErr := p.repo.Resolve(ctx, ref)
		if errors.Is(lookErr, git.ErrNotFound) {
			continue
		}
		within := false
		if err = lookErr; err == nil {
			within, err = p.repo.IsAncestor(ctx, at, holds)
		}
		if err == nil && within {
			err = p.repo.DeleteRef(ctx, branch, at)
			if err == nil {
				p.print("removed branch %s, which is in %s\n", run.Journey.Branch, ref)
				return nil
			}
		}
	}
	if err != nil {
		return fmt.Errorf("remove branch %q: %w", run.Journey.Branch, err)
	}
	return nil
}
