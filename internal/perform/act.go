package perform

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/engine"
	"signalbox/internal/workflow"
)

// performing is how to perform actions of one kind, and how to describe a failed one.
type performing struct {
	perform  func(*execution, context.Context, workflow.Outcome, workflow.Action) (workflow.Event, error)
	category workflow.Category // empty for CategoryExecution
	title    string            // empty for "an action failed"
}

var kinds = map[workflow.ActionKind]performing{
	workflow.CheckDependencies:   {(*execution).checkDependencies, workflow.CategoryInput, "the requests it depends on cannot be read"},
	workflow.CreateBranch:        {(*execution).createBranch, workflow.CategoryGit, "the branch cannot be made"},
	workflow.DetectEnvironment:   {(*execution).detectEnvironment, workflow.CategoryGit, "the project's files cannot be read"},
	workflow.CreateEnvironment:   {(*execution).createEnvironment, workflow.CategoryEnvironment, "the environment cannot be made"},
	workflow.ReadDesign:          {(*execution).readDesign, "", "the project's documents cannot be read"},
	workflow.CallAgent:           {(*execution).callAgent, "", "the agent cannot be called"},
	workflow.MergeBase:           {(*execution).mergeBase, workflow.CategoryGit, "the base branch cannot be merged into the change"},
	workflow.WritePlan:           {(*execution).writePlan, "", "the plan cannot be written"},
	workflow.RestoreEnvironment:  {(*execution).renewEnvironment, workflow.CategoryEnvironment, "the environment cannot be prepared"},
	workflow.RunSetUp:            {(*execution).runSetUp, workflow.CategoryEnvironment, "the setup cannot be run"},
	workflow.AdoptSetUp:          {(*execution).adoptSetUp, workflow.CategoryEnvironment, "the setup's files cannot be read"},
	workflow.SnapshotEnvironment: {(*execution).keepEnvironment, "", ""},
	workflow.RecordChange:        {(*execution).recordChange, workflow.CategoryGit, "the change cannot be recorded"},
	workflow.RunTests:            {(*execution).runTests, "", "the tests cannot be run"},
	workflow.OpenPullRequest:     {(*execution).openPullRequest, workflow.CategoryGit, "the change cannot be prepared for its merge"},
	workflow.WatchChecks:         {(*execution).watchChecks, workflow.CategoryTest, "the checks cannot be run"},
	workflow.RerunChecks:         {(*execution).rerunChecks, "", "the failed jobs cannot be run again"},
	workflow.MergePullRequest:    {(*execution).merge, workflow.CategoryGit, "the change cannot be merged"},
	workflow.ClosePullRequest:    {(*execution).closePullRequest, workflow.CategoryGit, "the offered change cannot be withdrawn"},
	workflow.RemoveEnvironment:   {(*execution).removeEnvironment, workflow.CategoryEnvironment, "the environment cannot be removed"},
	workflow.CloseRequest:        {(*execution).closeRequest, "", "the request cannot be closed"},
	workflow.PostComment:         {(*execution).postComment, "", "the comment cannot be posted"},
	workflow.FindAgreement:       {(*execution).findAgreement, "", ""},
	workflow.KeepAgreement:       {(*execution).keepAgreement, "", ""},
	workflow.DropWork:            {(*execution).dropWork, workflow.CategoryEnvironment, "the environment cannot be cleared"},
	workflow.Wait:                {(*execution).waitUntil, "", ""},
}

// Perform implements engine.Performer. A process that died may have performed the action before, in part or wholly, so each
// action first looks for its own results.
func (p *Performer) Perform(ctx context.Context, run workflow.Run, a workflow.Action, progress engine.Progress) workflow.Event {
	x := p.of(run)
	x.progress = progress
	defer x.announced.During(ctx)()
	outcome := workflow.Outcome{Key: a.Key, Presence: &x.presence}
	event, err := workflow.Event(nil), fmt.Errorf("perform %q: %w", a.Kind, errUnknownAction)
	if kind, known := kinds[a.Kind]; known {
		event, err = kind.perform(x, ctx, outcome, a)
	}
	switch {
	case err == nil:
		return event
	case ctx.Err() != nil:
		return nil
	}
	x.Logger.Warn("action failed", "run", run.RunID, "action", a.Key, "err", err)
	return workflow.ActionFailed{Outcome: outcome, Error: x.failure(a, err), RetryAfter: retryAfter(err)}
}

var errUnknownAction = errors.New("this version does not know the action: a newer one saved the run")

func (x *execution) writePlan(ctx context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	path, err := x.Artifacts.WritePlan(ctx, workflow.RefOf(&x.run), x.run.Details.Plan)
	return workflow.PlanWritten{Outcome: o, Path: path}, err
}

func (x *execution) waitUntil(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	select {
	case <-x.Clock.After(a.Until.Sub(x.Clock.Now())):
		return workflow.Waited{Outcome: o}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
