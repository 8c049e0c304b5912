package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"signalbox/internal/config"
	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

// CarryRepair carries the request of an error as far as it goes without a person: on with the run that
// is under way, or with a new one that has the failing check among its tests.
func (p *App) CarryRepair(ctx context.Context, repair heal.Repair, watch Watcher) (workflow.Run, error) {
	r, err := p.Runner(ctx, watch(p))
	if err != nil {
		return workflow.Run{}, err
	}
	if err := p.giveUpJudged(ctx, r, repair); err != nil {
		return workflow.Run{}, err
	}
	which := p.latestOr(repair.Request, func(ctx context.Context) (workflow.Start, error) {
		if err := p.mayPlan(); err != nil {
			return workflow.Start{}, err
		}
		start, err := p.Start(ctx, repair.Request)
		start.Settings.Check = &repair.Check
		return start, err
	})
	return r.Run(ctx, repair.Request.ID, "heal", func(ctx context.Context) (workflow.RunRef, error) {
		if ref, ok := p.givenUp(ctx, repair); ok {
			return ref, nil
		}
		ref, err := which(ctx, r)
		if err != nil {
			return ref, err
		}
		return ref, p.resumeStopped(ctx, ref)
	})
}

// notARepair says that a request is about an error of the self-healing loop, which alone has its check run again on what
// would be merged; nil if it is not. A state.json that cannot be read names no errors.
func (p *App) notARepair(ctx context.Context, request forge.Request) error {
	state, err := p.Store.Health().Load(ctx)
	if err != nil || !slices.ContainsFunc(state.Loop.Errors, func(e health.Error) bool { return e.Request == request.ID }) {
		return nil
	}
	return &problem.Error{Err: fmt.Errorf("request %s is a repair, which is proved by running its check again", request.ID), Hint: "signalbox heal"}
}

// mayPlan says why a repair, which begins with a plan, would only cost attempts, nil if nothing is known to be
// in its way.
func (p *App) mayPlan() error {
	name := p.PlansUnasked(workflow.WorkflowHeal)
	if name == "" {
		return nil
	}
	return &problem.Error{Err: fmt.Errorf("a repair begins with a plan, and nobody said whether %q, a command, can make one", name), Hint: SayWhoPlans(name)}
}

// PlansUnasked is the command that is the planner only because it is the one agent there is; empty if there is no such.
func (p *App) PlansUnasked(name string) string {
	agent, c, ok := p.Config.AgentFor(string(workflow.Planner), name)
	if !ok || c.Driver != config.DriverCommand || p.Config.Roles["planner"].Agent != "" || p.Config.Workflows[name].Roles["planner"].Agent != "" {
		return ""
	}
	return agent
}

func SayWhoPlans(name string) string {
	return fmt.Sprintf("in %s: roles: {planner: none} if it only changes files, {planner: %s} if it answers as docs/prompts.md asks", config.Name, name)
}

// givenUp is the attempt's run if a person gave it up, which is an answer: it is not begun again at once.
// One that was canceled before it made anything was only interrupted.
func (p *App) givenUp(ctx context.Context, repair heal.Repair) (workflow.RunRef, bool) {
	latest, err := p.Store.LatestRun(ctx, repair.Request.ID)
	return latest.Ref, err == nil && latest.Err == nil && latest.Run.State == workflow.Canceled && latest.Ref.RunID != repair.Judged &&
		latest.Run.Details.BaseCommit != ""
}

// giveUpJudged ends the run of the attempt before, whose work is kept on a ref: the next attempt begins
// anew, on what is on the base branch now.
func (p *App) giveUpJudged(ctx context.Context, r *engine.Engine, repair heal.Repair) error {
	latest, err := p.Store.LatestRun(ctx, repair.Request.ID)
	if errors.Is(err, fs.ErrNotExist) || err == nil && latest.Err == nil && (latest.Ref.RunID != repair.Judged || latest.Run.State.Final()) {
		return nil
	}
	if err = errors.Join(err, latest.Err); err != nil {
		return err
	}
	_, err = r.Run(ctx, repair.Request.ID, "heal", func(ctx context.Context) (workflow.RunRef, error) {
		return latest.Ref, p.Store.Signal(ctx, latest.Ref, func(s *workflow.Signals) error {
			s.Commands = append(s.Commands, Personal(workflow.CommandCancel, "", ""))
			return nil
		})
	})
	return err
}

// resumeStopped lets a run go on that stands still because the pass before was interrupted, or because its agent could
// not be used then, or because something else than its change was in the way.
func (p *App) resumeStopped(ctx context.Context, ref workflow.RunRef) error {
	run, err := p.Store.Stage(ref).Load(ctx)
	if err != nil || run.State != workflow.NeedsInput || run.Error.ReasonCode != workflow.StopRequestedCode && !run.Interrupted() && !run.Error.Unusable() && !run.Hindered() {
		return err
	}
	return p.Store.Signal(ctx, ref, func(s *workflow.Signals) error {
		s.ResumeRequested = true
		return nil
	})
}
