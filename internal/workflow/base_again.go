package workflow

// A run that a person lets go on does so from its base branch as it is now, so that nothing is paid for on one that was mended, or that
// moved on, since. Where nothing is recorded it starts over there, which costs nothing but a set-up, and the plan is kept. What is recorded is
// kept, too: the base is merged into it, as "signalbox sync" does. Starting over would pay for each step again, and a rebase would rewrite
// commits that people may have looked at. Behind the steps the merge candidate is tested on the base as it is anyway.

// nothingRecorded: the change has no commit yet.
func (j *Journey) nothingRecorded() bool { return j.BaseCommit != "" && j.Head == j.BaseCommit }

// resumesFromBase: what a run does next that waited for a person begins with the last commit, so that another one may stand in its place.
// Work that lies in the environment and is about to be recorded, or to be gone on with, was begun on the commit that is there.
func (m *machine) resumesFromBase() bool {
	j := &m.run.Journey
	if j.Canceling {
		return false
	}
	unpaid := m.run.Counters.ImplementerCalls == 0 || m.run.Error.ReasonCode == TestsCannotRun
	return j.nothingRecorded() && unpaid || j.BaseCommit != "" && m.beginsFromHead() && !m.run.Interrupted()
}

// goesFromBase lets a run that a person let go on begin with its base branch as it is now, if that has moved, or because the tests
// could not run there. It reports whether it did.
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

// mergedMidway goes on with the change in hand, a step or a mend, once the base is merged into it. What was recorded of it may be all that was
// missing, now that the base is another: its tests say so for nothing.
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
