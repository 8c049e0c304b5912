package place

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

// CheckSandboxes makes a place that is set up as those of runs are, for commands that look at the project and
// change nothing.
type CheckSandboxes struct {
	// Root is the project's folder.
	Root string
	// Base is the branch that is looked at.
	Base         string
	Environments environment.Driver
	// Detect reads what the project's files at a commit say of its environment; language is the task's, empty if it has none.
	Detect   func(ctx context.Context, commit, language string) (workflow.Detection, error)
	Settings workflow.Settings
	Logger   *slog.Logger
}

const checkID = "health"

// Open makes the place at a commit, a full id. There is one at a time. Close removes it.
func (l CheckSandboxes) Open(ctx context.Context, commit string) (place *CheckSandbox, err error) {
	// Every command there is told these. The first finds what a killed Signalbox left in this project, and says nothing of
	// where that is.
	variables := append([]string{fmt.Sprintf("%s=%s-%.6x", RunVariable, checkID, sha256.Sum256([]byte(l.Root)))}, PortVariables(0)...)
	if _, err := process.SweepOrphans(ctx, variables[0]); err != nil {
		l.Logger.Warn("end processes of an earlier look", "err", err)
	}
	found, err := l.Detect(ctx, commit, "")
	if err != nil {
		return nil, fmt.Errorf("look at the project's files: %w", err)
	}
	o := &CheckSandbox{driver: l.Environments, variables: variables, spec: environment.Spec{ID: checkID, Commit: commit, Dir: ".worktrees/issue-0-health",
		Branch: "signalbox/0-health", Image: workflow.ImageFor(l.Settings, found)}}
	if err := o.Close(ctx); err != nil { // of a look that was cut off
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Close(context.WithoutCancel(ctx)))
		}
	}()
	if o.Environment, err = l.Environments.Make(ctx, o.spec); err != nil {
		return nil, fmt.Errorf("make environment to look from: %w", err)
	}
	if s := workflow.SetUpFor(l.Settings, found); s != nil {
		if err := l.setUp(ctx, o, s, commit, found.Locks); err != nil {
			return nil, err
		}
		o.Environment = Activated{o.Environment}
	}
	return o, nil
}

// setUp begins with what was kept for the same set-up, or sets up, verifies and keeps that.
func (l CheckSandboxes) setUp(ctx context.Context, env *CheckSandbox, s *workflow.SetUp, commit, locks string) error {
	key, total := Fingerprint(env, l.Base, s, locks), time.Duration(l.Settings.Limits.SetUpTotalSec)*time.Second
	warm, err := env.Restore(ctx, commit, key)
	if err != nil {
		return fmt.Errorf("prepare environment: %w", err)
	}
	if warm {
		return nil
	}
	if err := SetUpAgain(ctx, env, s.Commands, nil, total, io.Discard); err != nil {
		return err
	}
	for _, v := range s.Verification {
		var printed bytes.Buffer
		result, err := env.Exec(ctx, process.Command{Args: environment.VerifyLine(v.Command), Stdout: &printed,
			Total: total, OutputLimit: 64 << 10})
		if err != nil || !result.OK() || string(bytes.TrimSuffix(printed.Bytes(), []byte("\n"))) != v.Expected {
			return err // what does not verify is looked from, and not kept
		}
	}
	if err := env.Snapshot(ctx, key); err != nil && ctx.Err() == nil {
		l.Logger.Warn("environment is not kept", "err", err)
	}
	return nil
}

// CheckSandbox is the place in which health checks run.
type CheckSandbox struct {
	environment.Environment
	driver    environment.Driver
	spec      environment.Spec
	variables []string
}

// Exec implements process.Executor with the variables of the place.
func (o *CheckSandbox) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Env = append(o.variables[:len(o.variables):len(o.variables)], c.Env...)
	return o.Environment.Exec(ctx, c)
}

// Close removes the place and what was left in it.
func (o *CheckSandbox) Close(ctx context.Context) error {
	if err := o.driver.Remove(ctx, o.spec); err != nil {
		return fmt.Errorf("remove environment that was looked from: %w", err)
	}
	return nil
}
