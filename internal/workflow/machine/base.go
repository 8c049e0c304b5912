package machine

import (
	"slices"
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// beforePlan: what is being set up is only to be looked at, see environmentCreated.
func (m *machine) beforePlan() bool { return m.run.Details.Phase == workflow.EnvCreate }

// testBase has the tests run before anything is changed, once the environment is what it will be. What fails there is not
// the change's to answer for, and what the tests left in the build caches is kept with the environment.
func (m *machine) testBase() {
	j := &m.run.Details
	switch {
	case !j.Settings.Proves() || m.baseKnown():
		m.baseDone()
	case j.SetUp != nil && j.SetUp.Status == workflow.SetUpSucceeded && !j.SetUp.Warm:
		m.order(workflow.Action{Kind: workflow.AdoptSetUp})
	default:
		m.runBaseTests()
		return
	}
	if j.SettingUp && len(j.Pending) > 0 {
		m.saySetUp()
	}
}

func (m *machine) runBaseTests() {
	m.order(workflow.Action{Kind: workflow.RunTests, Purpose: workflow.BaseTests, Commands: m.run.Details.Settings.AllTestCommands()})
	m.saySetUp()
}

// baseKnown: the tests ran on the base already, in an environment like this one. Where they passed, what was set up since
// makes no difference, but other containers do: the programs that the tests start may not be in them.
func (m *machine) baseKnown() bool {
	j := &m.run.Details
	b, failed := j.Tested, j.SetUp != nil && j.SetUp.Status == workflow.SetUpFailed
	switch {
	case b == nil || b.Commit != j.BaseCommit || b.Status == workflow.BaseUntested:
		return false
	case b.Forced:
		return true
	}
	return !failed && b.Image == j.Image() && (b.Fingerprint == j.Fingerprint || b.Status == workflow.BasePassed)
}

// baseTested takes what the tests came to where nothing is changed.
func (m *machine) baseTested(e workflow.TestsEnded) {
	j := &m.run.Details
	b := j.BaseCheck(e)
	j.Tested = &b
	if j.SetUp != nil && j.SetUp.Status == workflow.SetUpFailed {
		m.baseDone() // nothing else was to be expected
		return
	}
	if m.unsettled(e, j.Settings.Check != nil) { // a health check that the run repairs may fail by taking too long
		return
	}
	why := b.CannotRun(j.Settings.Goals())
	if len(why) == 0 {
		m.baseDone()
		return
	}
	// No change would make these commands pass, so the run stops before anything is paid for.
	stop := m.problem(workflow.CategoryTest, workflow.TestsCannotRun, "the tests cannot run", strings.Join(why, "\n"))
	stop.Next = []workflow.NextStep{
		workflow.Advice("correct tests in .signalbox/config.yaml, or have environment.set_up install what they need").Following(m.run.ThenResume()),
		m.run.Forced("or go on without knowing what they say")}
	stop.RelatedPaths = paths(b.LogPath)
	m.stop(stop)
}

// unsettled repeats tests that did not end by themselves, and stops for a person the second time: the machine may be at fault,
// or the limit, and the change is not blamed for either. It reports whether it did.
func (m *machine) unsettled(e workflow.TestsEnded, meant bool) bool {
	r, j := &m.run, &m.run.Details
	if meant || !slices.ContainsFunc(e.Failures, func(f workflow.TestFailure) bool { return f.Unsettled }) {
		j.Used.TestRetries = 0
		return false
	}
	if j.Used.TestRetries == 0 {
		j.Used.TestRetries++
		r.Counters.Retries++
		m.order(m.answered)
		m.say("the tests did not end by themselves, once more: %s", wording.FirstLine(e.Summary))
		return true
	}
	j.Used.TestRetries = 0
	stop := m.problem(workflow.CategoryTest, workflow.TestsNotSettled, "the tests did not end by themselves, twice", e.Summary)
	stop.Next = []workflow.NextStep{r.Ask("see where they stood", workflow.VerbLogs),
		workflow.Advice("free what they ran out of, or raise the limit that they met for later runs (limits.test_total, set_up_total or checks_total)").Following(r.Ask("then run them again", workflow.VerbResume))}
	stop.RelatedPaths = paths(e.LogPath)
	m.order(m.answered)
	m.stop(stop)
	return true
}

// baseDone goes on from the set-up, the tests of the base included.
func (m *machine) baseDone() {
	j := &m.run.Details
	switch s := j.SetUp; {
	case s != nil && s.Status == workflow.SetUpFailed:
		m.setUpSays("warning: the environment's set-up failed, the work goes on without it")
	case j.Warm && (s == nil || s.Warm):
		m.setUpDone("set up before and verified again")
	default:
		keep := workflow.Action{Kind: workflow.SnapshotEnvironment}
		if m.answered.Kind == workflow.RunTests {
			keep.Purpose = workflow.BaseTests // they left something
		}
		m.order(keep)
		m.saySetUp()
	}
}

// knownFlag begins the flag by which a person learns what still fails.
const knownFlag = "these tests failed before the change and still do: "
