package perform

import (
	"context"
	"fmt"

	"signalbox/internal/place"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// detectEnvironment reads the project's files at the commit where the branch begins.
func (x *execution) detectEnvironment(ctx context.Context, o workflow.Outcome) (workflow.Event, error) {
	request, err := x.theRequest(ctx)
	if err != nil {
		return nil, err
	}
	language := taskLanguage(request)
	found, err := x.Detect(ctx, x.run.Details.BaseCommit, language)
	if err != nil {
		return nil, fmt.Errorf("detect environment: %w", err)
	}
	found.Language = language
	return workflow.EnvironmentDetected{Outcome: o, Detection: found}, nil
}

// renewEnvironment brings the environment to where the set-up begins. What lies in it was
// left by a planner or by an attempt that was cut off; it is kept on a ref first.
func (x *execution) renewEnvironment(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	env, err := x.environment(ctx)
	if err != nil {
		return nil, err
	}
	key := place.Fingerprint(env, x.run.Details.Base, setUpOrNone(&x.run), x.locks())
	if a.Reason != "" {
		if err := env.Evict(ctx, key); err != nil {
			return nil, fmt.Errorf("forget environment %.12s: %w", key, err)
		}
	}
	if env, err = x.ready(ctx, a); err != nil {
		return nil, err
	}
	x.presence.Content = ""
	warm, err := env.Restore(ctx, x.run.Details.Head, key)
	if err != nil {
		return nil, fmt.Errorf("prepare environment: %w", err)
	}
	event := workflow.EnvironmentRenewed{Outcome: o, Fingerprint: key, Warm: warm}
	if x.run.Details.Settings.Proves() {
		event.Tested, err = x.remembered(ctx, key)
	}
	return event, err
}

// setUpOrNone is the run's setup, or one in which nothing is to be done: what tests leave in build caches is
// cached for later runs there, too.
func setUpOrNone(run *workflow.Run) *workflow.SetUp {
	if s := run.Details.SetUp; s != nil {
		return s
	}
	return &workflow.SetUp{Name: run.Details.EnvironmentName()}
}

func (x *execution) locks() string {
	if x.run.Details.Detection == nil {
		return ""
	}
	return x.run.Details.Detection.Locks
}

// keepEnvironment makes what the set-up left part of the environment and keeps it for later
// ones. That it cannot be kept costs time, not correctness.
func (x *execution) keepEnvironment(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	env, err := x.environment(ctx)
	if err != nil {
		return nil, err
	}
	s, j := setUpOrNone(&x.run), &x.run.Details
	key := j.Fingerprint
	if s.Repaired {
		key = ""
	}
	event := workflow.EnvironmentKept{Outcome: o}
	if a.Purpose == workflow.BaseTests {
		err = x.clearTests(ctx, env)
	} else if j.SetUp != nil {
		event.Loose = x.untracked(ctx, env)
	}
	if err != nil || x.nothingToKeep(ctx, env) {
		return event, err
	}
	x.presence.Content = ""
	if err := env.Snapshot(ctx, key); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x.Logger.Warn("environment is not kept", "run", x.run.RunID, "err", err)
		event.Problem = redact.Line(x.Redact.String(err.Error()), 200)
	}
	return event, nil
}
