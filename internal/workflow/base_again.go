package workflow

// When a person resumes or retries a run, it continues from its base branch as it is now: a base that was fixed or moved on since must not
// cost another call. If nothing is recorded, the run starts over there and keeps its plan; that costs a setup. Otherwise the base is merged
// into what is recorded, as "signalbox sync" does. Starting over would pay for each step again, and a rebase would rewrite commits that
// people may have reviewed. After the steps, the merge candidate is tested on today's base anyway.

// nothingRecorded: the change has no commit yet.
func (j *Journey) nothingRecorded() bool { return j.BaseCommit != "" && j.Head == j.BaseCommit }

// resumesFromBase reports whether the base may be merged before the run continues: its next action begins from the last commit. Unrecorded
// work in the environment belongs to the commit it was begun on.
func (m *machine) resumesFromBase() bool {
	j := &m.run.Journey
	if j.Canceling {
		return false
	}
	unpaid := m.run.Counters.ImplementerCalls == 0 || m.run.Error.ReasonCode == TestsCannotRun
	return j.nothingRecorded() && unpaid || j.BaseCommit != "" && m.beginsFromHead() && !m.run.Interrupted()
}

// goesFromBase continues a resumed run from its base branch as it is now, if the branch moved or the tests could not run there. It reports
// whether it did.
func (m *machine) goesFromBase(e Admitted) bool {
	j := &m.run.Journey
	asked := j.FromBase
	j.FromBase = false
	if !asked || j.Canceling || j.MergeCommit != "" || j.BaseCommit == "" {
		return false
	}
	untestable := j.Tested != nil && !j.Tested.Forced && len(j.Tested.cannotRun(j.Settings.goals())) > 0
	if untestable && e.Settings != nil {
		j.Settings.follow(e.Settings)
	}
	switch moved := e.Base != "" && e.Base != j.BaseCommit; {
	case !untestable && !moved:
		return false
	case untestable || j.nothingRecorded() || j.Phase < TDDRed:
		j.Pending = nil
		m.startOver()
	case j.Phase > ReviewFix:
		return false
	case j.Phase == ReviewRequest:
		m.mergeBaseIn()
	default:
		j.Pending, m.run.Stage = nil, j.Phase.Position().Stage
		m.order(Action{Kind: MergeBase})
	}
	return true
}

// mergedMidway continues the step or the fix in hand after the base was merged into it. The recorded change may pass on the new base, so its
// tests run before an agent is paid.
func (m *machine) mergedMidway(recorded bool) {
	j := &m.run.Journey
	step := m.currentStep()
	switch {
	case len(j.Conflicts) > 0 && step != nil:
		m.workAgain(j.Findings[0].Text)
		j.Findings = nil
	case !recorded || len(j.Conflicts) > 0:
		m.enter(j.Phase)
	case step != nil:
		m.testChange(step.StepID, step.Attempt)
	default:
		m.testChange(mendID(j.Mends), max(j.MendAttempt, 1))
	}
}

// follow takes up what a person corrects in the configuration when the tests cannot run. The rest of the goal stays.
func (s *Settings) follow(now *Settings) {
	s.Tests, s.TestsE2E = now.Tests, now.TestsE2E
	s.EnvironmentName, s.SetUp, s.Verification, s.NoSetUp = now.EnvironmentName, now.SetUp, now.Verification, now.NoSetUp
	s.Environments, s.Image, s.Images = now.Environments, now.Image, now.Images
	s.Limits.TestTotalSec, s.Limits.SetUpTotalSec = now.Limits.TestTotalSec, now.Limits.SetUpTotalSec
}
