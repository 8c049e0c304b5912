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

// CheckSandboxes makes an environment for health checks, with the setup that a run's environment would have.
type CheckSandboxes struct {
	// Root is the project's folder.
	Root string
	// Base is the branch that is checked.
	Base         string
	Environments environment.Driver
	// Detect derives an environment from the project's files at a commit; language is the task's, empty if it has none.
	Detect   func(ctx context.Context, commit, language string) (workflow.Detection, error)
	Settings workflow.Settings
	Logger   *slog.Logger
}

const checkID = "health"

// Open makes the sandbox at a commit, a full id. There is one at a time. Close removes it.
func (l CheckSandboxes) Open(ctx context.Context, commit string) (place *CheckSandbox, err error) {
	// Every command there gets these. By the first, Open finds the processes that a killed Signalbox left in this project;
	// it's a hash, so that commands don't learn the project's path.
	variables := append([]string{fmt.Sprintf("%s=%s-%.6x", RunVariable, checkID, sha256.Sum256([]byte(l.Root)))}, PortVariables(0)...)
	if _, err := process.SweepOrphans(ctx, variables[0]); err != nil {
		l.Logger.Warn("end processes of an earlier check", "err", err)
	}
	found, err := l.Detect(ctx, commit, "")
	if err != nil {
		return nil, fmt.Errorf("read the project's files: %w", err)
	}
	details := workflow.Details{Settings: l.Settings, Detection: &found}
	o := &CheckSandbox{driver: l.Environments, variables: variables, spec: environment.Spec{ID: checkID, Commit: commit, Dir: ".worktrees/issue-0-health",
		Branch: "signalbox/0-health", Image: details.Image()}}
	if err := o.Close(ctx); err != nil { // left by a killed process
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Close(context.WithoutCancel(ctx)))
		}
	}()
	if o.Environment, err = l.Environments.Make(ctx, o.spec); err != nil {
		return nil, fmt.Errorf("make check sandbox: %w", err)
	}
	if s := details.ChosenSetUp(nil); s != nil {
		if err := l.setUp(ctx, o, s, commit, found.Locks); err != nil {
			return nil, err
		}
		o.Environment = Activated{o.Environment}
	}
	return o, nil
}

// setUp restores the snapshot of the same setup, or else runs and verifies the setup and makes a snapshot.
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
			return err // checks use what failed to verify, but it isn't cached
		}
	}
	if err := env.Snapshot(ctx, key); err != nil && ctx.Err() == nil {
		l.Logger.Warn("environment is not cached", "err", err)
	}
	return nil
}

// CheckSandbox is the environment in which health checks run.
type CheckSandbox struct {
	environment.Environment
	driver    environment.Driver
	spec      environment.Spec
	variables []string
}

// Exec implements process.Executor with the sandbox's variables.
func (o *CheckSandbox) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Env = append(o.variables[:len(o.variables):len(o.variables)], c.Env...)
	return o.Environment.Exec(ctx, c)
}

// Close removes the sandbox and everything in it.
func (o *CheckSandbox) Close(ctx context.Context) error {
	if err := o.driver.Remove(ctx, o.spec); err != nil {
		return fmt.Errorf("remove check sandbox: %w", err)
	}
	return nil
}
