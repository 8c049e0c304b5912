package perform

import (
	"context"
	"fmt"
	"path"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
	"signalbox/internal/place"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// detectEnvironment reads the project's files at the commit where the branch begins.
func (x *execution) detectEnvironment(ctx context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
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
	locks := ""
	if d := x.run.Details.Detection; d != nil {
		locks = d.Locks
	}
	key := place.Fingerprint(env, x.run.Details.Base, setUpOrNone(&x.run), locks)
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
	if err != nil {
		return event, err
	}
	if e, ok := env.(emptied); ok && j.SetUp == nil { // only what the tests left could be kept
		if empty, err := e.Empty(ctx); err == nil && empty {
			return event, nil
		}
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

// sourceFile is a source file's name in a text, and what its language is called by its extension.
var (
	sourceFile  = lazy.Pattern(`[\w-]\.(?:go|py|js|jsx|ts|tsx|java|kt)\b`)
	extensionOf = map[string]string{".go": "go", ".py": "python", ".js": "javascript", ".jsx": "javascript", ".ts": "javascript", ".tsx": "javascript",
		".java": "java", ".kt": "java"}
)

// taskLanguage is the language that a request says it is about, or the one of most source files that it names; empty if
// it names none, or as many of two.
func taskLanguage(r forge.Request) string {
	if r.Language != "" {
		return r.Language
	}
	named := map[string]int{}
	for _, name := range sourceFile().FindAllString(r.Title+"\n"+r.Body, -1) {
		named[extensionOf[path.Ext(name)]]++
	}
	best, most, tied := "", 0, false
	for language, n := range named {
		switch {
		case n > most:
			best, most, tied = language, n, false
		case n == most:
			tied = true
		}
	}
	if tied {
		return ""
	}
	return best
}
