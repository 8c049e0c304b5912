package perform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/lazy"
	"signalbox/internal/place"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// detectEnvironment derives an environment from the project's files at the commit where the branch begins.
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

// renewEnvironment brings the environment to the state where the setup begins. It first saves on a ref what a planner or an
// interrupted attempt left there.
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
			return nil, fmt.Errorf("evict environment %.12s: %w", key, err)
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
	event := workflow.EnvironmentRestored{Outcome: o, Fingerprint: key, Warm: warm}
	if x.run.Details.Settings.HasTests() {
		event.Tested, err = x.remembered(ctx, key)
	}
	return event, err
}

// setUpOrNone returns the run's setup, or an empty one: even without a setup, the build caches that tests leave are cached for
// later runs.
func setUpOrNone(run *workflow.Run) *workflow.SetUp {
	if s := run.Details.SetUp; s != nil {
		return s
	}
	return &workflow.SetUp{Name: run.Details.EnvironmentName()}
}

// keepEnvironment makes the setup's files part of the environment and caches it for later runs. A failure to cache costs time,
// not correctness.
func (x *execution) keepEnvironment(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	env, err := x.environment(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(requestTested(env)); err == nil {
		return workflow.SnapshotTaken{Outcome: o}, nil
	}
	s, j := setUpOrNone(&x.run), &x.run.Details
	key := j.Fingerprint
	if s.Repaired {
		key = ""
	}
	event := workflow.SnapshotTaken{Outcome: o}
	if a.Purpose == workflow.BaseTests {
		err = x.clearTests(ctx, env)
	} else if j.SetUp != nil {
		event.Untracked = x.untracked(ctx, env)
	}
	if err != nil {
		return event, err
	}
	if e, ok := env.(emptied); ok && j.SetUp == nil { // only files of the tests could be cached
		if empty, err := e.Empty(ctx); err == nil && empty {
			return event, nil
		}
	}
	x.presence.Content = ""
	if err := env.Snapshot(ctx, key); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x.Logger.Warn("environment is not cached", "run", x.run.RunID, "err", err)
		event.Problem = redact.Line(x.Redact.String(err.Error()), 200)
	}
	return event, nil
}

// requestTested names a file that exists once a request's own tests ran in the environment. Restore removes it.
func requestTested(env environment.Environment) string {
	return filepath.Join(env.Private(), "request-tested")
}

// keepBefore caches the environment before the first of a request's own tests runs, because merge candidates start from the cache. From then on
// nothing of the environment is cached, also if these tests are cut off and run again.
func (x *execution) keepBefore(ctx context.Context, o workflow.Outcome, env environment.Environment) error {
	j := &x.run.Details
	if s := setUpOrNone(&x.run); s.Status != workflow.SetUpFailed && !(j.Warm && (j.SetUp == nil || s.Warm)) {
		if _, err := x.keepEnvironment(ctx, o, workflow.Action{Purpose: workflow.BaseTests}); err != nil {
			return err
		}
	}
	x.presence.Content = "" // these tests may change files
	if err := errors.Join(os.MkdirAll(env.Private(), 0o700), os.WriteFile(requestTested(env), nil, 0o600)); err != nil {
		return fmt.Errorf("note that a request's tests run: %w", err)
	}
	return nil
}

// sourceFile matches a source file's name in a text; extensionOf maps its extension to a language.
var (
	sourceFile  = lazy.Pattern(`[\w-]\.(?:go|py|js|jsx|ts|tsx|java|kt)\b`)
	extensionOf = map[string]string{".go": "go", ".py": "python", ".js": "javascript", ".jsx": "javascript", ".ts": "javascript", ".tsx": "javascript",
		".java": "java", ".kt": "java"}
)

// taskLanguage returns the language that a request names, or that of most source files in its text; empty if there is none, or
// on a tie.
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
