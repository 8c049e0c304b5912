package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json"

	"signalbox/internal/environment"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// detectEnvironment reads the project's files at the commit where the branch begins.
func (w *work) detectEnvironment(ctx context.Context, o workflow.Outcome) (workflow.Event, error) {
	request, err := w.theRequest(ctx)
	if err != nil {
		return nil, err
	}
	language := taskLanguage(request)
	found, err := w.Detect(ctx, w.run.Journey.BaseCommit, language)
	if err != nil {
		return nil, fmt.Errorf("detect environment: %w", err)
	}
	found.Language = language
	return workflow.EnvironmentDetected{Outcome: o, Detection: found}, nil
}

// renewEnvironment brings the environment to where the set-up begins. What lies in it was
// left by a planner or by an attempt that was cut off; it is kept on a ref first.
func (w *work) renewEnvironment(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	env, err := w.environment(ctx)
	if err != nil {
		return nil, err
	}
	key := fingerprint(env, w.run.Journey.Base, w.setUpOrNone(), w.locks())
	if a.Reason != "" {
		if err := env.Forget(ctx, key); err != nil {
			return nil, fmt.Errorf("forget environment %.12s: %w", key, err)
		}
	}
	if env, err = w.ready(ctx, a); err != nil {
		return nil, err
	}
	w.content = ""
	warm, err := env.Renew(ctx, w.run.Journey.Head, key)
	if err != nil {
		return nil, fmt.Errorf("prepare environment: %w", err)
	}
	event := workflow.EnvironmentRenewed{Outcome: o, Fingerprint: key, Warm: warm}
	if w.run.Journey.Settings.Proves() {
		event.Tested, err = w.remembered(ctx, key)
	}
	return event, err
}

// setUpOrNone is the run's set-up, or one in which nothing is to be done: what tests leave in build caches is
// kept for later runs there, too.
func (w *work) setUpOrNone() *workflow.SetUp { return setUpOrNone(&w.run) }

func setUpOrNone(run *workflow.Run) *workflow.SetUp {
	if s := run.Journey.SetUp; s != nil {
		return s
	}
	return &workflow.SetUp{Name: run.Journey.EnvironmentName()}
}

func (w *work) locks() string {
	if w.run.Journey.Detection == nil {
		return ""
	}
	return w.run.Journey.Detection.Locks
}

// keepEnvironment makes what the set-up left part of the environment and keeps it for later
// ones. That it cannot be kept costs time, not correctness.
func (w *work) keepEnvironment(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	env, err := w.environment(ctx)
	if err != nil {
		return nil, err
	}
	s, j := w.setUpOrNone(), &w.run.Journey
	key := j.Fingerprint
	if s.Repaired {
		key = ""
	}
	event := workflow.EnvironmentKept{Outcome: o}
	if a.Purpose == workflow.BaseTests {
		err = w.clearTests(ctx, env)
	} else if j.SetUp != nil {
		event.Loose = w.loose(ctx, env)
	}
	if err != nil || w.nothingToKeep(ctx, env) {
		return event, err
	}
	w.content = ""
	if err := env.Keep(ctx, key); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w.Logger.Warn("environment is not kept", "run", w.ref.RunID, "err", err)
		event.Problem = redact.Line(w.Redact.String(err.Error()), 200)
	}
	return event, nil
}

// fingerprint identifies an environment as set up: whatever has the same one is the same. The base branch is part of it: its
// files take part in a set-up and its tests, and what they leave must not decide what the tests of another branch say.
func fingerprint(env environment.Environment, base string, s *workflow.SetUp, locks string) string {
	data, err := json.Marshal(struct {
		Stands, Base, Name, Locks string
		Commands                  []string
		Verification              []workflow.Verification
	}{env.Fingerprint(), base, s.Name, locks, s.Commands, s.Verification})
	if err != nil {
		panic(fmt.Sprintf("encode fingerprint: %v", err)) // strings are always encoded
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// activated is an environment in which every program starts with what the set-up activated.
type activated struct{ environment.Environment }

// Exec implements process.Executor.
func (a activated) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Args = environment.Activated(c.Args)
	return a.Environment.Exec(ctx, c)
}

func (w *work) activated(env environment.Environment) environment.Environment {
	if w.run.Journey.SetUp == nil {
		return env
	}
	return activated{env}
}

// portVariables tell programs which TCP ports are theirs, so that environments of one
// machine do not take each other's.
func portVariables(number int) []string {
	first, last := workflow.Ports(number)
	return []string{fmt.Sprintf("SIGNALBOX_PORT=%d", first), fmt.Sprintf("SIGNALBOX_PORT_RANGE=%d-%d", first, last)}
}
