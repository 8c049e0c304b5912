package perform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// setUpOutputLimit is how much of a failed command's output the documents show, in runes. With the reason before it, it
// fits into what clean lets through.
const setUpOutputLimit = 2800

// runSetUp runs one setup command, or one verification. The output of a verification must be exactly the expected one,
// except for one trailing newline.
func (x *execution) runSetUp(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	env, err := x.environment(ctx)
	if err != nil {
		return nil, err
	}
	log, path, err := openLog(x.Artifacts, x.Redact, workflow.RefOf(&x.run), logName("setup", "command", a.Attempt))
	if err != nil {
		return nil, err
	}
	command := a.Commands[0]
	x.presence.Content = ""
	stdout, both, shown := &tail{limit: 64 << 10}, &tail{limit: environment.OutputTail}, &tail{limit: 8 << 10}
	args := environment.SetUpLine(command)
	if a.Expected != nil {
		args = environment.VerifyLine(command)
	}
	result, err := env.Exec(ctx, process.Command{Args: args, Env: place.Variables(&x.run),
		Stdout: io.MultiWriter(log, stdout, both, shown), Stderr: io.MultiWriter(log, both, shown),
		Total: seconds(x.run.Details.Settings.Limits.SetUpTotalSec), OutputLimit: commandOutputLimit})
	if err == nil && !result.OK() { // the log of another try follows
		_, err = fmt.Fprintf(log, "[%s]\n", place.Ending(result))
	}
	if closeErr := log.Close(); err == nil {
		err = closeErr
	}
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("run setup command %q: %w", command, err)
	}
	event := workflow.SetUpEnded{Outcome: o, LogPath: path, OK: result.OK(), DurationMS: result.Duration.Milliseconds()}
	if !event.OK {
		failure := environment.Judge(result, both.String(), x.Offline)
		event.Class = workflow.FailureClass(failure.Class)
		why := strings.TrimSuffix(place.Ending(result)+": "+failure.Reason, ": ")
		event.Message = redact.Line(x.Redact.String(command), 200) + ": " + redact.Line(x.Redact.String(why), 500) + "\n" +
			shorten(redact.Clean(x.Redact.String(shown.marked())), setUpOutputLimit)
	} else if got := strings.TrimSuffix(stdout.String(), "\n"); a.Expected != nil && got != *a.Expected {
		event.OK, event.Class = false, workflow.FailureFixable
		event.Message = x.clean(fmt.Sprintf("%s printed %q where %q is expected", x.Redact.Line(command, 200), redact.Cut(x.Redact.Text(got), 500), redact.Cut(*a.Expected, 500)))
	}
	return event, nil
}

// adoptSetUp makes the setup's files part of the environment, before tests add theirs.
func (x *execution) adoptSetUp(ctx context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	env, err := x.environment(ctx)
	if err != nil {
		return nil, err
	}
	x.presence.Content = ""
	event := workflow.SetUpAdopted{Outcome: o, Untracked: x.untracked(ctx, env)}
	return event, env.Snapshot(ctx, "")
}

// Agreements remembers what people agreed to in earlier runs of the project. Neither a repository nor an agent can write
// there.
type Agreements interface {
	// SetUpAgreed reports whether a person agreed to a setup, by its workflow.SetUp.Content.
	SetUpAgreed(content string) (bool, error)
	// AgreeToSetUp remembers a person's agreement and what they were shown. It may be repeated.
	AgreeToSetUp(content string, shown []string) error
}

// findAgreement looks for an earlier agreement. If it can't read them, it reports none, and a person is asked.
func (x *execution) findAgreement(_ context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	event := workflow.AgreementFound{Outcome: o}
	if x.Agreements == nil {
		return event, nil
	}
	content := x.run.Details.SetUp.Content()
	agreed, err := x.Agreements.SetUpAgreed(content)
	x.logged("read agreements", err)
	if agreed && err == nil {
		event.Content = content
	}
	return event, nil
}

// keepAgreement remembers the agreement in the run's document. A failure costs another question later, not the run.
func (x *execution) keepAgreement(_ context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	err := errors.New("nothing remembers agreements here")
	if x.Agreements != nil {
		s := x.run.Details.SetUp
		err = x.Agreements.AgreeToSetUp(s.Agreed.Content, s.Shown())
	}
	if err == nil {
		return workflow.AgreementKept{Outcome: o}, nil
	}
	x.logged("keep agreement", err)
	return workflow.AgreementKept{Outcome: o, Problem: redact.Line(x.Redact.String(err.Error()), 200)}, nil
}

const (
	// untrackedShown is how many untracked files are named.
	untrackedShown = 5
	untrackedTotal = 30 * time.Second
	untrackedLimit = 1 << 20
)

// untracked returns the first files of a setup that are neither ignored nor in a new folder. git runs inside the
// environment, so a setup's ignore rules affect nothing else. Without git in the image, untracked returns nothing.
func (x *execution) untracked(ctx context.Context, env environment.Environment) (names []string) {
	var list bytes.Buffer
	result, err := env.Exec(ctx, process.Command{Args: []string{"git", "--no-optional-locks", "-c", "safe.directory=*", "status", "--porcelain", "-z", "--no-renames"},
		Stdout: &list, Total: untrackedTotal, OutputLimit: untrackedLimit})
	if err != nil || !result.OK() {
		x.Logger.Debug("untracked files of the setup are unknown", "run", x.run.RunID, "err", err, "code", result.ExitCode)
		return nil
	}
	for entry := range strings.SplitSeq(list.String(), "\x00") {
		if len(entry) < 4 || strings.HasSuffix(entry, "/") {
			continue
		}
		if len(names) == untrackedShown {
			return append(names, "…")
		}
		names = append(names, redact.Line(x.Redact.String(entry[3:]), 200))
	}
	return names
}
