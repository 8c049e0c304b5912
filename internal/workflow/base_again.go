package workflow

// When a person resumes or retries a run, it continues from its base branch as it is now: a base that was fixed or moved on since must not
// cost another call. If nothing is recorded, the run starts over there and keeps its plan; that costs a setup. Otherwise the base is merged
// into what is recorded, as "signalbox sync" does. Starting over would pay for each step again, and a rebase would rewrite commits that
// people may have reviewed. After the steps, the merge candidate is tested on today's base anyway.

// NothingRecorded: the change has no commit yet.
func (j *Details) NothingRecorded() bool { return j.BaseCommit != "" && j.Head == j.BaseCommit }

// Follow takes up what a person corrects in the configuration when the tests cannot run. The rest of the goal stays.
func (s *Settings) Follow(now *Settings) {
	s.Tests, s.TestsE2E = now.Tests, now.TestsE2E
	s.EnvironmentName, s.SetUp, s.Verification, s.NoSetUp = now.EnvironmentName, now.SetUp, now.Verification, now.NoSetUp
	s.Environments, s.Image, s.Images = now.Environments, now.Image, now.Images
	s.Limits.TestTotalSec, s.Limits.SetUpTotalSec = now.Limits.TestTotalSec, now.Limits.SetUpTotalSec
}
