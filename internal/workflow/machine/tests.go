package machine

import (
	"cmp"
	"strings"
	"unicode"

	"signalbox/internal/workflow"
)

// testsEnded takes a result on the commit that was recorded. What it means
// depends on the phase: a new test is meant to fail.
func (m *machine) testsEnded(e workflow.TestsEnded) {
	j := &m.run.Details
	known := j.Excuses(e.Failures)
	if m.answered.Purpose != workflow.UnitTests && m.answered.Purpose != workflow.E2ETests {
		known = nil
	}
	j.Evidence = append(j.Evidence, workflow.Evidence{Purpose: string(m.answered.Purpose), Commit: e.Commit, Command: e.Command,
		Passed: e.Passed, Known: known, DurationMS: e.DurationMS, LogPath: e.LogPath, At: m.now})
	switch m.answered.Purpose {
	case workflow.StressTests:
		m.stressEnded(e)
		return
	case workflow.BaseTests:
		m.baseTested(e)
		return
	}
	if m.unsettled(e, m.slowBefore(e)) {
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
	if e.Passed || len(known) > 0 || !m.mustPass() {
		j.Failure = ""
		if e.Passed && j.Phase == workflow.TDDRed && step != nil {
			step.Summary = cmp.Or(step.Summary, "tests written") + " (they pass already)"
		}
		if m.answered.Purpose == workflow.UnitTests {
			m.testWhole(m.answered.StepID, m.answered.Attempt)
			return
		}
		m.finishChange()
		return
	}
	told := "The tests fail:\n" + e.Summary
	if m.answered.Purpose == workflow.E2ETests {
		told = "The end-to-end tests fail:\n" + e.Summary
	}
	if step == nil && len(j.Findings) == 0 { // commits of a person, which the implementer goes on from
		j.Findings = []workflow.Finding{{Source: workflow.FoundByTests, Text: told}}
	}
	if j.Used.Autofix < m.autofixes(e) {
		j.Used.Autofix++
		m.run.Counters.AutofixCycles++
		m.workAgain(told)
		return
	}
	stop := m.problem(workflow.CategoryTest, workflow.TestsFailedCode, "the tests still fail after every attempt", e.Summary)
	stop.RelatedPaths = paths(e.LogPath)
	m.fail(stop, workflow.Action{})
	switch {
	case !j.BaseFails():
	case j.SetUp.Failure() != "":
		m.run.Error.Title = "the tests fail, as they did before anything was changed: the environment is not set up"
		m.run.Error.First(m.run.Ask("see why the set-up failed", workflow.VerbEnvironmentLogs))
	case m.stillFails(e) && j.Settings.Check == nil: // a repair answers for nothing else
		m.run.Error.Title = "the tests fail, as they did before anything was changed"
		m.run.Error.First(workflow.Advice("if the change is not to answer for that, make them pass on " + j.Base + " first"))
	}
}

// countTests notes how tests of the change in hand ended.
func (m *machine) countTests(step *workflow.Step, e workflow.TestsEnded) {
	counter := &m.run.Counters.UnitRuns
	if m.answered.Purpose == workflow.E2ETests {
		counter = &m.run.Counters.E2ERuns
	}
	*counter++
	if step == nil {
		return
	}
	step.Logs = appendNew(step.Logs, paths(e.LogPath)...)
	if m.answered.Purpose == workflow.E2ETests {
		step.Test.E2E = e.Result()
	} else {
		step.Test.Unit = e.Result()
	}
}

// stillFails: nothing fails but commands that failed before anything was changed.
func (m *machine) stillFails(e workflow.TestsEnded) bool {
	j := &m.run.Details
	for _, f := range e.AllFailures() {
		if before := j.Tested.Of(f.Command); before == nil || !before.Failed() {
			return false
		}
	}
	return true
}

// withoutDigits is what a command printed, without the first line, which says how long it took.
func withoutDigits(summary string) string {
	_, printed, _ := strings.Cut(summary, "\n")
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, printed)
}

// slowBefore: what did not end by itself did not on the base either, where that is what the run is to repair.
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

// autofixes is how often a change goes back because its tests fail. Where they fail as they did before anything
// was changed, one more attempt is all that could be of use: the same commands fail and say the same, times and counts apart.
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

// mustPass: the last step of the implementation, a refactoring and a mend must
// leave the tests passing. Before that a test may wait for a later step.
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

// finishChange ends the change in hand: a step of the plan, or a mend.
func (m *machine) finishChange() {
	j := &m.run.Details
	j.Used.Autofix, j.Used.AgentRetries = 0, 0
	step := m.currentStep()
	if step == nil {
		j.Findings = nil
		m.advance("")
		return
	}
	step.Status, step.EndedAt = workflow.StepDone, &m.now
	m.nextStep()
}
