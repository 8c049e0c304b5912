package workflow

// testsEnded takes a result on the commit that was recorded. What it means
// depends on the phase: a new test is meant to fail.
func (m *machine) testsEnded(e TestsEnded) {
	j := &m.run.Journey
	j.Evidence = append(j.Evidence, Evidence{Purpose: string(m.answered.Purpose), Commit: e.Commit, Command: e.Command,
		Passed: e.Passed, DurationMS: e.DurationMS, LogPath: e.LogPath, At: m.now})
	switch m.answered.Purpose {
	case StressTests:
		m.stressEnded(e)
		return
	case BaseTests:
		m.baseTested(e)
		return
	}
	m.run.Counters.UnitRuns++
	step := m.currentStep()
	if step != nil {
		step.Test.Unit = e.result()
		step.Logs = appendNew(step.Logs, paths(e.LogPath)...)
	}
	if m.changedNothing() {
		if !e.Passed {
			m.nothingChanged(e)
			return
		}
		step.Summary = "nothing was left to do"
	}
	if e.Passed || !m.mustPass() {
		j.Failure = ""
		if e.Passed && j.Phase == TDDRed && step != nil {
			step.Summary = firstOf(step.Summary, "tests written") + " (they pass already)"
		}
		m.finishChange()
		return
	}
	if step == nil && len(j.Findings) == 0 { // commits of a person, which the implementer goes on from
		j.Findings = []Finding{{Source: "tests", Text: "The tests fail:\n" + e.Summary}}
	}
	if j.Used.Autofix < m.autofixes() {
		j.Used.Autofix++
		m.run.Counters.AutofixCycles++
		m.workAgain("The tests fail:\n" + e.Summary)
		return
	}
	stop := m.problem(CategoryTest, "TESTS_FAILED", "the tests still fail after every attempt", e.Summary)
	stop.RelatedPaths = paths(e.LogPath)
	m.fail(stop, Action{})
	if j.SetUp.baseFails() {
		m.run.Error.Title = "the tests fail, as they did before anything was changed: the environment is not set up"
		m.run.Error.Actions = append([]string{"see why the set-up failed: signalbox env logs " + m.run.Ref()}, m.run.Error.Actions...)
	}
}

// autofixes is how often a change goes back because its tests fail. Where they failed before anything was
// changed, in an environment that is not set up, one more attempt is all that could be of use.
func (m *machine) autofixes() int {
	j := &m.run.Journey
	if j.SetUp.baseFails() {
		return min(1, j.Settings.Limits.Autofix)
	}
	return j.Settings.Limits.Autofix
}

// mustPass: the last step of the implementation, a refactoring and a mend must
// leave the tests passing. Before that a test may wait for a later step.
func (m *machine) mustPass() bool {
	switch m.run.Journey.Phase {
	case TDDRed:
		return false
	case TDDGreen:
		for _, s := range m.run.Steps[m.run.CurrentStepIndex+1:] {
			if s.Phase == TDDGreen.Step() {
				return false
			}
		}
	}
	return true
}

// result is the event in the words of R11.
func (e TestsEnded) result() TestResult {
	r := TestResult{Status: TestPass, Command: &e.Command, DurationMS: &e.DurationMS}
	if e.LogPath != "" {
		r.LogPath = &e.LogPath
	}
	if !e.Passed {
		r.Status, r.FailedSummary = TestFail, &e.Summary
	}
	return r
}

// finishChange ends the change in hand: a step of the plan, or a mend.
func (m *machine) finishChange() {
	j := &m.run.Journey
	j.Used.Autofix, j.Used.AgentRetries = 0, 0
	step := m.currentStep()
	if step == nil {
		j.Findings = nil
		m.advance("")
		return
	}
	step.Status, step.EndedAt = StepDone, &m.now
	m.nextStep()
}
