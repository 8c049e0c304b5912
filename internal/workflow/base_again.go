package workflow

// nothingOfWorth: no change is recorded and no implementer was paid, so that a run which a person lets go on may
// as well begin with the base branch of today.
func (m *machine) nothingOfWorth() bool {
	j := &m.run.Journey
	return j.BaseCommit != "" && j.Head == j.BaseCommit && m.run.Counters.ImplementerCalls == 0 && !j.Canceling
}

// allRecorded: the run failed after its change was recorded, so that nothing is lost with the environment. What an agent
// left that was cut off is not.
func (r *Run) allRecorded() bool {
	return r.Error != nil && (r.Error.ReasonCode == "TESTS_FAILED" || r.Error.ReasonCode == "NO_CHANGE")
}

// goesFromBase reports whether a run that a person let go on starts over, because its base branch has moved or because the tests
// could not run there. The plan is kept, and what it recorded stays on a ref.
func (m *machine) goesFromBase(e Admitted) bool {
	j := &m.run.Journey
	if !j.FromBase || j.Canceling || j.MergeCommit != "" {
		j.FromBase = false
		return false
	}
	j.FromBase = false
	untestable := j.Tested != nil && !j.Tested.Forced && len(j.Tested.cannotRun(j.Settings.goals())) > 0
	if untestable && e.Settings != nil {
		j.Settings.follow(e.Settings)
	}
	if j.BaseCommit == "" || !untestable && (e.Base == "" || e.Base == j.BaseCommit) {
		return false
	}
	j.Pending = nil
	return true
}

// follow takes up what a person corrects in the configuration when the tests cannot run. The rest of the goal stays.
func (s *Settings) follow(now *Settings) {
	s.Tests, s.TestsE2E = now.Tests, now.TestsE2E
	s.EnvironmentName, s.SetUp, s.Verification, s.NoSetUp = now.EnvironmentName, now.SetUp, now.Verification, now.NoSetUp
	s.Environments, s.Image, s.Images = now.Environments, now.Image, now.Images
	s.Limits.TestTotalSec, s.Limits.SetUpTotalSec = now.Limits.TestTotalSec, now.Limits.SetUpTotalSec
}
