package machine

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"signalbox/internal/workflow"
)

// testsEnded takes a result on the recorded commit. Its meaning depends on the phase: a new test is supposed to fail.
func (m *machine) testsEnded(e workflow.TestsEnded) {
	j := &m.run.Details
	known := j.Excuses(e.Failures)
	purpose := m.answered.Purpose
	if purpose != workflow.UnitTests && purpose != workflow.E2ETests {
		known = nil
	}
	j.Evidence = append(j.Evidence, workflow.Evidence{Purpose: string(purpose), Commit: e.Commit, Command: e.Command,
		Passed: e.Passed, Known: known, DurationMS: e.DurationMS, LogPath: e.LogPath, At: m.now})
	switch {
	case purpose == workflow.BaseTests:
		m.baseTested(e)
		return
	case m.unsettled(e, purpose != workflow.StressTests && m.slowBefore(e)):
		return
	case purpose == workflow.StressTests && e.Passed:
		m.advance("passed")
		return
	case purpose == workflow.StressTests:
		m.roundFailed([]workflow.Finding{{Source: workflow.FoundByStress, Text: "The stress test fails:\n" + e.Summary}}, &j.Used.ReviewRounds)
		return
	}
	step := m.currentStep()
	m.countTests(step, e)
	if m.changedNothing() {
		if !e.Passed && len(known) == 0 {
			m.nothingChanged(e)
			return
		}
		step.Summary = "nothing was left to do"
	}
	if len(known) > 0 && m.mustPass() {
		j.Flags = appendNew(j.Flags, knownFlag+strings.Join(known, ", "))
	}
	if !e.Passed && len(known) == 0 && m.mustPass() {
		m.testsFailed(e)
		return
	}
	j.Failure = ""
	if e.Passed && j.Phase == workflow.TDDRed && step != nil {
		step.Summary = cmp.Or(step.Summary, "tests written") + " (they pass already)"
	}
	if purpose == workflow.UnitTests {
		m.testWhole(m.answered.StepID, m.answered.Attempt)
		return
	}
	m.finishChange()
}

// testsFailed sends the change back to the implementer until the budget for that is used up.
func (m *machine) testsFailed(e workflow.TestsEnded) {
	j := &m.run.Details
	reason := "The tests fail:\n" + e.Summary
	if m.answered.Purpose == workflow.E2ETests {
		reason = "The end-to-end tests fail:\n" + e.Summary
	}
	if m.currentStep() == nil && len(j.Findings) == 0 { // the tests of a person's commits, which the implementer continues from
		j.Findings = []workflow.Finding{{Source: workflow.FoundByTests, Text: reason}}
	}
	if j.Used.Autofix < m.autofixes(e) {
		j.Used.Autofix++
		m.run.Counters.AutofixCycles++
		m.workAgain(reason)
		return
	}
	stop := m.problem(workflow.CategoryTest, workflow.TestsFailedCode, "the tests still fail after every attempt", e.Summary)
	stop.RelatedPaths = paths(e.LogPath)
	m.fail(stop, workflow.Action{})
	switch {
	case !j.BaseFails():
	case j.SetUp.Failure() != "":
		m.run.Error.Title = "the tests fail, as they did before anything was changed: the environment is not set up"
		m.run.Error.First(m.run.Ask("see why the setup failed", workflow.VerbEnvironmentLogs))
	case m.stillFails(e) && j.Settings.Check == nil: // a repair is only about these failures
		m.run.Error.Title = "the tests fail, as they did before anything was changed"
		m.run.Error.First(workflow.Advice("if the change is not to answer for that, make them pass on " + j.Base + " first"))
	}
}

// countTests records how tests of the change in hand ended.
func (m *machine) countTests(step *workflow.Step, e workflow.TestsEnded) {
	whole := m.answered.Purpose == workflow.E2ETests
	if whole {
		m.run.Counters.E2ERuns++
	} else {
		m.run.Counters.UnitRuns++
	}
	if step == nil {
		return
	}
	step.Logs = appendNew(step.Logs, paths(e.LogPath)...)
	if whole {
		step.Test.E2E = e.Result()
	} else {
		step.Test.Unit = e.Result()
	}
}

// slowBefore reports whether every command that ran out of time or memory did so on the base too, and the run repairs just that.
func (m *machine) slowBefore(e workflow.TestsEnded) bool {
	j := &m.run.Details
	if j.Settings.Check == nil || j.Tested == nil {
		return false
	}
	for _, f := range e.Failures {
		if before := j.Tested.Of(f.Command); f.Unsettled && (before == nil || !before.Unsettled) {
			return false
		}
	}
	return true
}

// stillFails reports whether nothing fails but what failed before anything was changed, and what the request isn't about.
func (m *machine) stillFails(e workflow.TestsEnded) bool {
	for _, f := range e.AllFailures() {
		before := m.run.Details.Tested.Of(f.Command)
		if before == nil || !before.Failed() || before.OfRequest {
			return false
		}
		isNews := func(test string) bool {
			return slices.Contains(before.Asked, test) || !before.Unnamed && !slices.Contains(before.Tests, test)
		}
		if slices.ContainsFunc(f.Tests, isNews) {
			return false
		}
	}
	return true
}

// autofixes returns how often a change goes back because its tests fail. If the same commands fail as before anything was changed, and print the
// same apart from times and counts, more than one attempt is of no use.
func (m *machine) autofixes(e workflow.TestsEnded) int {
	j := &m.run.Details
	limit := j.Settings.Limits.Autofix
	if !j.BaseFails() {
		return limit
	}
	if j.SetUp.Failure() == "" {
		if !m.stillFails(e) {
			return limit
		}
		for _, f := range e.AllFailures() {
			if before := j.Tested.Of(f.Command); withoutDigits(before.Summary) != withoutDigits(f.Summary) {
				return limit
			}
		}
	}
	return min(1, limit)
}

// withoutDigits returns what a command printed, without the first line, which says how long it took.
func withoutDigits(summary string) string {
	_, printed, _ := strings.Cut(summary, "\n")
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, printed)
}

// mustPass reports whether the tests must pass now: after the last step of the implementation, a refactoring and a
// fix. Before that, a test may wait for a later step.
func (m *machine) mustPass() bool {
	switch m.run.Details.Phase {
	case workflow.TDDRed:
		return false
	case workflow.TDDGreen:
		for _, s := range m.run.Steps[m.run.CurrentStepIndex+1:] {
			if s.Phase == workflow.TDDGreen.Step() {
				return false
			}
		}
	}
	return true
}
