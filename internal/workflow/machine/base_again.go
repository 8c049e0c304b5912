package machine

import "signalbox/internal/workflow"

// resumesFromBase reports whether the base may be merged before the run continues: its next action begins from the last commit. Unrecorded
// work in the environment belongs to the commit it was begun on.
func (m *machine) resumesFromBase() bool {
	j := &m.run.Details
	if j.Canceling {
		return false
	}
	unpaid := m.run.Counters.ImplementerCalls == 0 || m.run.Error.ReasonCode == workflow.TestsCannotRun
	return j.NothingRecorded() && unpaid || j.BaseCommit != "" && m.beginsFromHead() && !m.run.Interrupted()
}

// goesFromBase continues a resumed run from its base branch as it is now, if the branch moved or the tests could not run there. It reports
// whether it did.
func (m *machine) goesFromBase(e workflow.Admitted) bool {
	j := &m.run.Details
	asked := j.FromBase
	j.FromBase = false
	if !asked || j.Canceling || j.MergeCommit != "" || j.BaseCommit == "" {
		return false
	}
	untestable := j.Tested != nil && !j.Tested.Forced && len(j.Tested.CannotRun(j.Settings.Goals())) > 0
	if untestable && e.Settings != nil {
		// A person corrected the configuration because the tests cannot run. The rest of the goal stays.
		s, now := &j.Settings, e.Settings
		s.Tests, s.TestsE2E = now.Tests, now.TestsE2E
		s.EnvironmentName, s.SetUp, s.Verification, s.NoSetUp = now.EnvironmentName, now.SetUp, now.Verification, now.NoSetUp
		s.Environments, s.Image, s.Images = now.Environments, now.Image, now.Images
		s.Limits.TestTotalSec, s.Limits.SetUpTotalSec = now.Limits.TestTotalSec, now.Limits.SetUpTotalSec
	}
	switch moved := e.Base != "" && e.Base != j.BaseCommit; {
	case !untestable && !moved:
		return false
	case untestable || j.NothingRecorded() || j.Phase < workflow.TDDRed:
		j.Pending = nil
		m.startOver()
	case j.Phase > workflow.ReviewFix:
		return false
	case j.Phase == workflow.ReviewRequest:
		m.mergeBaseIn()
	default:
		j.Pending, m.run.Stage = nil, j.Phase.Position().Stage
		m.order(workflow.Action{Kind: workflow.MergeBase})
	}
	return true
}

// mergedMidway continues the step or the fix in hand after the base was merged into it. The recorded change may pass on the new base, so its
// tests run before an agent is paid.
func (m *machine) mergedMidway(recorded bool) {
	j := &m.run.Details
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
		m.testChange(fixID(j.Fixes), max(j.FixAttempt, 1))
	}
}
