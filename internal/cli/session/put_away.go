package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// giveUp ends the run if it is not over, which removes its environment, and removes its branch if
// that holds nothing that would be lost. What was kept is on the refs.
func (c *sessionCleanup) giveUp(ctx context.Context, p *command.Project, found store.RunSummary) (kept []string, err error) {
	run := found.Run
	if !run.State.Final() {
		if run, err = cancel(ctx, p, found); err != nil {
			return nil, err
		}
		if !run.State.Final() {
			display.PrintEnd(p, &run)
			return nil, &problem.Error{Code: problem.CodeOf(command.Ended(run.State))}
		}
		sayKept(p.Invocation, run.Details.KeptRef, "the work is kept on a ref")
	}
	for _, ref := range run.Details.Aside {
		sayKept(p.Invocation, ref, "what was kept earlier")
	}
	kept = slices.Concat([]string{}, run.Details.Aside)
	if run.Details.KeptRef != "" {
		kept = append(kept, run.Details.KeptRef)
	}
	return kept, removeBranch(ctx, p, &run)
}

// sayKept says how to come by the work on a ref; nothing where there is none.
func sayKept(a *command.Invocation, ref, where string) {
	if ref != "" {
		a.Print("%s\n", where)
		display.PrintRef(a, "  ", ref)
	}
}

// cancel gives a run up as "stop --cancel" does, without a word of it: what its session came to stands.
func cancel(ctx context.Context, p *command.Project, found store.RunSummary) (workflow.Run, error) {
	p.WithoutAgents = true
	r, err := p.Runner(ctx, nil)
	if err != nil {
		return found.Run, err
	}
	err = p.Signal(ctx, found, func(_ *workflow.Run, s *workflow.Signals) {
		s.Commands = append(s.Commands, app.Personal(workflow.CommandCancel, "", ""))
	})
	if err != nil {
		return found.Run, wire.Explained(err)
	}
	request := forge.Request{ID: found.Ref.RequestID, Number: found.Run.Details.Number}
	return p.Run(ctx, r, request, func(context.Context, *engine.Engine) (workflow.RunRef, error) { return found.Ref, nil })
}

// removeBranch removes a run's branch if the base branch or the kept ref has all of it.
func removeBranch(ctx context.Context, p *command.Project, run *workflow.Run) error {
	branch := "refs/heads/" + run.Details.Branch
	at, err := p.Repo.Resolve(ctx, branch)
	if errors.Is(err, git.ErrNotFound) {
		return nil
	}
	for _, ref := range []string{"refs/heads/" + run.Details.Base, run.Details.KeptRef} {
		if err != nil || ref == "" {
			continue
		}
		holds, lookErr := p.Repo.Resolve(ctx, ref)
		if errors.Is(lookErr, git.ErrNotFound) {
			continue
		}
		within := false
		if err = lookErr; err == nil {
			within, err = p.Repo.IsAncestor(ctx, at, holds)
		}
		if err == nil && within {
			err = p.Repo.DeleteRef(ctx, branch, at)
			if err == nil {
				p.Print("removed branch %s, which is in %s\n", run.Details.Branch, ref)
				return nil
			}
		}
	}
	if err != nil {
		return fmt.Errorf("remove branch %q: %w", run.Details.Branch, err)
	}
	return nil
}
