package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// BaseCheck is what the project's tests came to on the commit where the branch begins, before anything
// was changed. It is found out before the first paid call wherever that needs no model.
type BaseCheck struct {
	// Commit is where they ran, Fingerprint that of the environment in which they did.
	Commit      string `json:"commit"`
	Fingerprint string `json:"fingerprint,omitempty"`
	// Image is that of the containers in which they ran; empty without any.
	Image  string     `json:"image,omitempty"`
	Status BaseStatus `json:"status"`
	// Failures are the test commands that failed, or ran no test, in the order in which they ran.
	Failures   []TestFailure `json:"failures,omitempty"`
	DurationMS int64         `json:"duration_ms"`
	LogPath    string        `json:"log_path,omitempty"`
	// Remembered: an earlier run found it out, on the same commit in the same environment.
	Remembered bool `json:"remembered,omitzero"`
	// Forced: a person said that the run goes on although the tests cannot tell anything.
	Forced  bool    `json:"forced,omitzero"`
	Unknown Unknown `json:",embed"`
}

// BaseStatus is the outcome of a BaseCheck.
type BaseStatus string

const (
	BasePassed   BaseStatus = "passed"
	BaseFailed   BaseStatus = "failed"
	BaseUntested BaseStatus = "untested" // the set-up failed, so the tests say nothing yet
)

// TestFailure is a test command that failed. One that passed without running a test counts, too, on the base.
type TestFailure struct {
	Command  string `json:"command"`
	ExitCode int    `json:"exit_code"`
	// Tests are the failing tests by the names that their runner printed. Unnamed: something failed
	// that has no name, so Tests are not all of it.
	Tests   []string `json:"tests,omitempty"`
	Unnamed bool     `json:"unnamed,omitzero"`
	// Unsettled: it did not end by itself but ran out of time or memory, or was killed.
	Unsettled bool `json:"unsettled,omitzero"`
	// NoTests: no test ran.
	NoTests bool `json:"no_tests,omitzero"`
	// OfRequest: the request brings the command.
	OfRequest bool `json:"of_request,omitzero"`
	// Asked are those of Tests that the request is about: its text names them, or it brings the command itself.
	Asked []string `json:"asked,omitempty"`
	// Summary is how it failed, a few lines.
	Summary string  `json:"summary,omitempty"`
	Unknown Unknown `json:",embed"`
}

// Exit codes by which sh says that a program cannot be run.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// cannotRun: no change of the project's code would make the command pass.
func (f *TestFailure) cannotRun() bool {
	return !f.Unsettled && (f.NoTests || f.ExitCode == exitNotExecutable || f.ExitCode == exitNotFound)
}

// Failed: the command itself failed.
func (f *TestFailure) Failed() bool { return f.ExitCode != 0 || f.Unsettled }

// BaseCheck is what tests of the base say that ended so.
func (j *Details) BaseCheck(e TestsEnded) BaseCheck {
	b := BaseCheck{Commit: j.BaseCommit, Fingerprint: j.Fingerprint, Image: j.Image(), Status: BasePassed, Failures: e.AllFailures(),
		DurationMS: e.DurationMS, LogPath: e.LogPath}
	if !e.Passed {
		b.Status = BaseFailed
	}
	return b
}

// Tells reports whether the tests said something about the base: all of them ran, and ended by themselves.
func (b *BaseCheck) Tells(s *Settings) bool {
	return len(b.CannotRun(s.Goals())) == 0 && !slices.ContainsFunc(b.Failures, func(f TestFailure) bool { return f.Unsettled })
}

// CannotRun are those of the tests that say nothing about any change, a line for people each.
func (b *BaseCheck) CannotRun(tests []string) (why []string) {
	for i := range b.Failures {
		f := &b.Failures[i]
		switch {
		case !slices.Contains(tests, f.Command):
		case f.cannotRun() && f.NoTests:
			why = append(why, fmt.Sprintf("%s: no test ran", f.Command))
		case f.cannotRun():
			why = append(why, cmp.Or(f.Summary, fmt.Sprintf("%s: exit code %d", f.Command, f.ExitCode)))
		}
	}
	return why
}

// Corrections are what a person can do about those of the tests that say nothing about any change, each as a step that others follow.
func (b *BaseCheck) Corrections(tests []string, request string) (steps []NextStep) {
	const configuration = ".signalbox/config.yaml"
	var files []string
	for i := range b.Failures {
		f := &b.Failures[i]
		if !f.cannotRun() || !slices.Contains(tests, f.Command) {
			continue
		}
		file := configuration
		if f.OfRequest && request != "" {
			file = request
		}
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
		if program, _, _ := strings.Cut(f.Command, " "); f.ExitCode == exitNotExecutable && strings.HasPrefix(program, "./") {
			steps = append(steps, Advice(fmt.Sprintf("let %s be executed: chmod +x %[1]s, and commit that; or start it with its shell: sh %[1]s", program)))
		}
	}
	return append(steps, Advice("correct tests in "+strings.Join(files, " and ")+", or have environment.set_up install what they need"))
}

// BaseNote is what the check of the base came to, for the phase in which it ran.
func (j *Details) BaseNote() string {
	switch b := j.Tested; {
	case b == nil:
		return "ready"
	case b.Status == BasePassed:
		return "the tests pass on " + j.Base
	case b.Status == BaseFailed:
		return "tests fail on " + j.Base + " already"
	}
	return "the set-up failed, so no test ran on " + j.Base
}

// BaseFails: the tests failed where nothing was changed yet.
func (j *Details) BaseFails() bool {
	return j.Tested != nil && j.Tested.Commit == j.BaseCommit && j.Tested.Status == BaseFailed
}

// FailedBefore are the tests that failed before anything was changed, in the words of a prompt: by name where all of a
// command's have one, else by what the command said.
func (j *Details) FailedBefore() (told []string) {
	if !j.BaseFails() {
		return nil
	}
	for i := range j.Tested.Failures {
		switch f := &j.Tested.Failures[i]; {
		case !f.Failed():
		case len(f.Tests) == 0 || f.Unnamed:
			told = append(told, cmp.Or(f.Summary, f.Command))
		default:
			told = append(told, f.Command+": "+strings.Join(f.Tests, ", "))
		}
	}
	return told
}

// Excuses are the tests that fail as they failed before anything was changed, if nothing else does; nil otherwise. A test that the request
// is about has to pass, and so does the health check that a run repairs.
func (j *Details) Excuses(failures []TestFailure) (known []string) {
	if !j.BaseFails() {
		return nil
	}
	for i := range failures {
		f := &failures[i]
		if !f.Failed() {
			continue
		}
		if f.Unnamed || f.Unsettled || len(f.Tests) == 0 || !slices.Contains(j.Settings.Goals(), f.Command) {
			return nil
		}
		before := j.Tested.Of(f.Command)
		for _, name := range f.Tests {
			if before == nil || before.Unnamed || !slices.Contains(before.Tests, name) || slices.Contains(before.Asked, name) {
				return nil
			}
			known = append(known, name)
		}
	}
	return known
}

// AgreedExcuses are Excuses that a person has seen and agreed to.
func (j *Details) AgreedExcuses(failures []TestFailure) []string {
	if j.Approval == nil || j.Approval.Commit != j.Head {
		return nil
	}
	return j.Excuses(failures)
}

// Goals are the project's own tests, without what a repair has to make pass.
func (s *Settings) Goals() []string { return slices.Concat(s.Tests[:s.Looking()], s.TestsE2E) }

// Of is how the command failed; nil if it did not.
func (b *BaseCheck) Of(command string) *TestFailure {
	i := slices.IndexFunc(b.Failures, func(f TestFailure) bool { return f.Command == command })
	if i < 0 {
		return nil
	}
	return &b.Failures[i]
}

// AllFailures are those of the event; one that was told without them has no names.
func (e *TestsEnded) AllFailures() []TestFailure {
	if e.Passed || len(e.Failures) > 0 {
		return e.Failures
	}
	return []TestFailure{{Command: e.Command, ExitCode: 1, Unnamed: true, Summary: e.Summary}}
}
