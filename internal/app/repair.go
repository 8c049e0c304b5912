package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"signalbox/internal/config"
	"signalbox/internal/engine"
	"signalbox/internal/heal"
	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

// CarryRepair runs the request of an error as far as it goes without a person. It resumes the current run, or begins one that has
// the failing check among its tests.
func (p *App) CarryRepair(ctx context.Context, repair heal.Repair, watch Watcher) (workflow.Run, error) {
	r, err := p.Runner(ctx, watch(p))
	if err != nil {
		return workflow.Run{}, err
	}
	if err := p.giveUpJudged(ctx, r, repair); err != nil {
		return workflow.Run{}, err
	}
	begin := func(ctx context.Context) (workflow.Start, error) {
		if name := p.PlansUnasked(); name != "" { // it would only cost attempts
			return workflow.Start{}, &problem.Error{Err: fmt.Errorf("a repair begins with a plan, and the configuration doesn't say whether %q, a command, can make one", name),
				Hint: SayWhoPlans(name)}
		}
		start, err := p.Start(ctx, repair.Request)
		start.Settings.Check = &repair.Check
		return start, err
	}
	return r.Run(ctx, repair.Request.ID, "heal", func(ctx context.Context) (workflow.RunRef, error) {
		// If a person gave up the attempt's run, that's an answer, so it isn't begun again at once. A run that was canceled before it
		// made anything was only interrupted.
		latest, err := p.Store.LatestRun(ctx, repair.Request.ID)
		if err == nil && latest.Err == nil && latest.Run.State == workflow.Canceled && latest.Ref.RunID != repair.Judged && latest.Run.Details.BaseCommit != "" {
			return latest.Ref, nil
		}
		ref, err := p.LatestIf(ctx, r, repair.Request, p.MayRun, begin)
		if err != nil {
			return ref, err
		}
		// The pass before was interrupted, its agent couldn't be used, or something other than the change was in the way.
		return ref, p.resumeIf(ctx, ref, func(run *workflow.Run) bool {
			return run.State == workflow.NeedsInput && (run.Error.ReasonCode == workflow.StopRequestedCode || run.Interrupted() || run.Error.Unusable() || run.Hindered())
		})
	})
}

// resumeIf resumes a run that stopped for a reason that is now over.
func (p *App) resumeIf(ctx context.Context, ref workflow.RunRef, over func(*workflow.Run) bool) error {
	run, err := p.Store.Stage(ref).Load(ctx)
	if err != nil || !over(&run) {
		return err
	}
	return p.Store.Signal(ctx, ref, func(s *workflow.Signals) error {
		s.ResumeRequested = true
		return nil
	})
}

// unasked is the command that has a role only because it is the one agent there is; empty if there is none.
func (p *App) unasked(role workflow.Role, name string) string {
	agent, c, ok := p.Config.AgentFor(string(role), name)
	if !ok || c.Driver != config.DriverCommand || p.Config.Roles[string(role)].Agent != "" || p.Config.Workflows[name].Roles[string(role)].Agent != "" {
		return ""
	}
	return agent
}

// MayAnswer refuses a run whose workflow asks a command for plans or reviews only because it is the one agent there is: a command that
// only changes files ends each such call without an answer.
func (p *App) MayAnswer() error {
	name, phases, err := workflow.WorkflowPhases(p.Config.Workflow...)
	if err != nil { // Start reports it
		return nil
	}
	var agent string
	var asked []string
	for _, duty := range []struct {
		role   workflow.Role
		phases []workflow.Phase
		does   string
	}{{workflow.Planner, []workflow.Phase{workflow.DesignRead, workflow.DesignCheck}, "plan"}, {workflow.Reviewer, []workflow.Phase{workflow.ReviewRequest}, "review"}} {
		calls := slices.ContainsFunc(duty.phases, func(phase workflow.Phase) bool { return slices.Contains(phases, phase.Step()) })
		if by := p.unasked(duty.role, name); by != "" && calls {
			agent, asked = by, append(asked, duty.does)
		}
	}
	if agent == "" {
		return nil
	}
	return &problem.Error{Err: fmt.Errorf("the workflow %q has to %s, and the configuration doesn't say whether %q, a command, can do that", name, strings.Join(asked, " and "), agent),
		Hint: fmt.Sprintf("if it only changes files, write in %s: roles: {planner: none, reviewer: none, repairer: none}\n"+
			"if it answers as docs/prompts.md asks: roles: {planner: %[2]s, reviewer: %[2]s, repairer: %[2]s}", config.Name, agent)}
}

// PlansUnasked is the command that would plan repairs only because it is the one agent there is; empty if there is none.
func (p *App) PlansUnasked() string { return p.unasked(workflow.Planner, workflow.WorkflowHeal) }

// SayWhoPlans is the hint to say whether a command can plan.
func SayWhoPlans(name string) string {
	return fmt.Sprintf("in %s: roles: {planner: none} if it only changes files, {planner: %s} if it answers as docs/prompts.md asks", config.Name, name)
}

// giveUpJudged cancels the run of the previous attempt, whose work is kept on a ref: the next attempt begins on the base branch as
// it is now.
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
