package perform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/environment"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// CandidateTester runs a project's own tests on a merge candidate, the commit that a merge would make, in a fresh
// environment. It replaces the checks of a forge that has none.
type CandidateTester struct {
	// Runs finds the newest run of a request; fs.ErrNotExist if it has none.
	Runs interface {
		LatestRun(ctx context.Context, requestID string) (engine.RunSummary, error)
	}
	Artifacts    Artifacts
	Environments environment.Driver
	// Detect and Ask are as in Config.
	Detect func(ctx context.Context, commit, language string) (workflow.Detection, error)
	Ask    func(workflow.HealthCheck) process.Command
	Redact *redact.Redactor
}

// Candidate is the merge candidate to test.
type Candidate struct {
	RequestID string
	Pull      int
	// Commit is a full id in the project's repository, Tree the id of its content.
	Commit, Tree string
}

// errNotAgreed: a model's setup without agreement would decide what the tests say.
var errNotAgreed = errors.New("no one agreed to the setup that a model wrote for this run")

// Verdict is the result of the tests.
type Verdict struct {
	Passed           bool
	Unsettled        bool // a command ran out of time or memory, so the result may differ next time
	Command, LogPath string
	Summary          string
	Duration         time.Duration
	// Known are tests that failed before the change, too. They are set only if no other test fails and a person agreed.
	Known []string
}

// Test runs the setup and the tests of the request's latest run. An error means that there is no verdict.
func (t CandidateTester) Test(ctx context.Context, c Candidate) (v Verdict, err error) {
	latest, err := t.Runs.LatestRun(ctx, c.RequestID)
	if err = errors.Join(err, latest.Err); err != nil {
		return v, fmt.Errorf("find run of %s: %w", c.RequestID, err)
	}
	run := latest.Run
	if !run.Details.Settings.HasTests() {
		return Verdict{Passed: true, Command: "", Summary: "the project has no tests"}, nil
	}
	spec := environment.Spec{ID: fmt.Sprintf("check-%d-%.12s", c.Pull, c.Tree), Commit: c.Commit,
		Dir: fmt.Sprintf(".worktrees/issue-%d-check-%.12s", run.Details.Number, c.Tree), Branch: fmt.Sprintf("signalbox/%d-check", run.Details.Number),
		Image: run.Details.Image()}
	if err := t.Environments.Remove(ctx, spec); err != nil { // left by a process that died
		return v, err
	}
	defer func() { err = errors.Join(err, t.Environments.Remove(context.WithoutCancel(ctx), spec)) }()
	env, err := t.Environments.Make(ctx, spec)
	if err != nil {
		return v, err
	}
	return t.test(ctx, env, &run, c)
}

func (t CandidateTester) test(ctx context.Context, env environment.Environment, run *workflow.Run, c Candidate) (Verdict, error) {
	log, path, err := openLog(t.Artifacts, t.Redact, workflow.RefOf(run), logName("check", fmt.Sprintf("%.12s", c.Tree), 1))
	if err != nil {
		return Verdict{}, err
	}
	defer func() { _ = log.Close() }()
	variables := append(place.PortVariables(run.Details.Number), place.RunVariable+"="+run.RunID, "SIGNALBOX_REQUEST_ID="+run.RequestID)
	limits := run.Details.Settings.Limits
	if run.Details.SetUp.NeedsAgreement() { // the workflow asks before; check again, because this proves the change
		return Verdict{}, errNotAgreed
	}
	if s := run.Details.SetUp; s == nil || s.Status == workflow.SetUpSucceeded {
		err := t.setUp(ctx, env, run, c.Commit, variables, seconds(limits.SetUpTotalSec), log)
		var cutOff *place.CutOffError
		switch {
		case errors.As(err, &cutOff):
			return Verdict{Unsettled: true, Command: cutOff.Command, LogPath: path, Summary: err.Error(), Duration: cutOff.Took}, nil
		case err != nil:
			return Verdict{LogPath: path}, err
		}
		if s != nil {
			env = place.Activated{Environment: env}
		}
	}
	commands := testCommands(&run.Details.Settings, true, t.Ask)
	v, err := runCommands(ctx, env, commands, variables, seconds(limits.TestTotalSec), len(run.Details.FailedBefore()) > 0, log)
	if err != nil {
		return Verdict{Command: v.command, LogPath: path, Duration: v.took}, err
	}
	if known := run.Details.AgreedExcuses(documented(t.Redact, v.failures)); len(known) > 0 {
		return Verdict{Passed: true, Known: known, Command: v.command, LogPath: path, Duration: v.took}, nil
	}
	return Verdict{Passed: v.passed, Unsettled: v.unsettled, Command: v.command, LogPath: path, Duration: v.took,
		Summary: shorten(redact.Clean(t.Redact.String(v.summary)), messageLimit)}, nil
}

// setUp restores a snapshot for the candidate's own lock files, which may differ from the run's, or else repeats the run's
// setup. Without a setup, the snapshot has the build caches of the base's tests.
func (t CandidateTester) setUp(ctx context.Context, env environment.Environment, run *workflow.Run, commit string,
	variables []string, total time.Duration, log io.Writer) error {
	s := setUpOrNone(run)
	found, err := t.Detect(ctx, commit, run.Details.Language())
	if err != nil {
		return fmt.Errorf("read the candidate's files: %w", err)
	}
	warm := false
	if !s.Repaired {
		if warm, err = env.Restore(ctx, commit, place.Fingerprint(env, run.Details.Base, s, found.Locks)); err != nil {
			return err
		}
	}
	if warm || run.Details.SetUp == nil {
		return nil
	}
	return place.SetUpAgain(ctx, env, s.Commands, variables, total, log)
}
