package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// BaseCheck is the result of the project's tests on the commit where the branch begins, before anything was changed. It is known before the first
// paid call, unless a model has to write the setup first.
type BaseCheck struct {
	// Commit is where they ran. Fingerprint is that of the environment, setup included.
	Commit      string `json:"commit"`
	Fingerprint string `json:"fingerprint,omitempty"`
	// Image is that of the containers in which they ran; empty without containers.
	Image  string     `json:"image,omitempty"`
	Status BaseStatus `json:"status"`
	// Failures are the test commands that failed, or ran no test, in the order in which they ran.
	Failures   []TestFailure `json:"failures,omitempty"`
	DurationMS int64         `json:"duration_ms"`
	LogPath    string        `json:"log_path,omitempty"`
	// Remembered: it is the result of an earlier run on the same commit in the same environment.
	Remembered bool `json:"remembered,omitzero"`
	// Forced: a person lets the run continue although the tests cannot run.
	Forced  bool    `json:"forced,omitzero"`
	Unknown Unknown `json:",embed"`
}

// BaseStatus is the outcome of a BaseCheck.
type BaseStatus string

const (
	BasePassed   BaseStatus = "passed"   // from now on a failing test is the change's fault
	BaseFailed   BaseStatus = "failed"   // tests that failed here, and still fail the same, are excused
	BaseUntested BaseStatus = "untested" // the setup failed, so the tests say nothing yet
)

// TestFailure is a test command that failed. On the base, a command that passed without running a test counts too.
type TestFailure struct {
	Command  string `json:"command"`
	ExitCode int    `json:"exit_code"`
	// Tests are the failing tests by the names that their runner printed. Unnamed: something without a name failed too.
	Tests   []string `json:"tests,omitempty"`
	Unnamed bool     `json:"unnamed,omitzero"`
	// Unsettled: it ran out of time or memory, or was killed.
	Unsettled bool `json:"unsettled,omitzero"`
	// NoTests: no test ran.
	NoTests bool `json:"no_tests,omitzero"`
	// OfRequest: the request brings the command.
	OfRequest bool `json:"of_request,omitzero"`
	// Asked are those of Tests that the request is about: its text names them, or the command is its own. They have to pass.
	Asked []string `json:"asked,omitempty"`
	// Summary is how it failed, a few lines.
	Summary string  `json:"summary,omitempty"`
	Unknown Unknown `json:",embed"`
}

// The exit codes of sh for a program that cannot be run.
const (
	ExitNotExecutable = 126
	ExitNotFound      = 127
)

// Failed reports whether the command itself failed.
func (f *TestFailure) Failed() bool { return f.ExitCode != 0 || f.Unsettled }

// BaseCheck returns the result of the tests of the base from the event of their end.
func (j *Details) BaseCheck(e TestsEnded) BaseCheck {
	b := BaseCheck{Commit: j.BaseCommit, Fingerprint: j.Fingerprint, Image: j.Image(), Status: BasePassed, Failures: e.AllFailures(),
		DurationMS: e.DurationMS, LogPath: e.LogPath}
	if !e.Passed {
		b.Status = BaseFailed
	}
	return b
}

// Tells reports whether the tests say anything about the base: all of them ran, and none ran out of time or memory.
func (b *BaseCheck) Tells(s *Settings) bool {
	return len(b.CannotRun(s.Goals())) == 0 && !slices.ContainsFunc(b.Failures, func(f TestFailure) bool { return f.Unsettled })
}

// CannotRun reports whether no change of the project's code would make the command pass.
func (f *TestFailure) CannotRun() bool {
	return !f.Unsettled && (f.NoTests || f.ExitCode == ExitNotExecutable || f.ExitCode == ExitNotFound)
}

// CannotRun returns a line for people for each of the tests that says nothing about any change.
func (b *BaseCheck) CannotRun(tests []string) (why []string) {
	for i := range b.Failures {
		f := &b.Failures[i]
		switch {
		case !f.CannotRun() || !slices.Contains(tests, f.Command):
		case f.NoTests && f.Summary == "":
			why = append(why, fmt.Sprintf("%s: no test ran", f.Command))
		default:
			why = append(why, cmp.Or(f.Summary, fmt.Sprintf("%s: exit code %d", f.Command, f.ExitCode)))
		}
	}
	return why
}

// BaseFails reports whether the tests failed before anything was changed.
func (j *Details) BaseFails() bool {
	return j.Tested != nil && j.Tested.Commit == j.BaseCommit && j.Tested.Status == BaseFailed
}

// FailedBefore returns the tests that failed before anything was changed, for a prompt: by name if all failing tests of a command have one, otherwise
// by what the command printed.
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

// Excuses returns the tests that fail as they failed before anything was changed, if no other test fails; nil otherwise. A test that the request is
// about has to pass, and so does the health check that a run repairs.
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

// AgreedExcuses returns the Excuses, if a person has seen and approved them.
func (j *Details) AgreedExcuses(failures []TestFailure) []string {
	if j.Approval == nil || j.Approval.Commit != j.Head {
		return nil
	}
	return j.Excuses(failures)
}

// Goals returns the project's own tests, without the check that a repair has to make pass.
func (s *Settings) Goals() []string { return slices.Concat(s.Tests[:s.Looking()], s.TestsE2E) }

// Of returns how the command failed; nil if it did not.
func (b *BaseCheck) Of(command string) *TestFailure {
	i := slices.IndexFunc(b.Failures, func(f TestFailure) bool { return f.Command == command })
	if i < 0 {
		return nil
	}
	return &b.Failures[i]
}

// AllFailures returns the event's failures. If it has none but the tests failed, that is one failure without names.
func (e *TestsEnded) AllFailures() []TestFailure {
	if e.Passed || len(e.Failures) > 0 {
		return e.Failures
	}
	return []TestFailure{{Command: e.Command, ExitCode: 1, Unnamed: true, Summary: e.Summary}}
}
