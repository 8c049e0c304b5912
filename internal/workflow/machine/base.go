package machine

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// testBase runs the tests before anything is changed, once the setup is done. The change is not blamed for what fails there, and what the tests
// leave in the build caches goes into the environment's snapshot.
func (m *machine) testBase() {
	j := &m.run.Details
	b, s := j.Tested, j.SetUp
	failed := s != nil && s.Status == workflow.SetUpFailed
	// Known: the tests ran on this base in an environment like this one. If they passed, what was set up since makes no difference, but another
	// image does: the programs that the tests start may be missing there.
	known := b != nil && b.Commit == j.BaseCommit && b.Status != workflow.BaseUntested &&
		(b.Forced || !failed && b.Image == j.Image() && (b.Fingerprint == j.Fingerprint || b.Status == workflow.BasePassed))
	switch {
	case !j.Settings.HasTests() || known:
		m.baseDone()
	case s != nil && s.Status == workflow.SetUpSucceeded && !s.Warm && m.answered.Kind != workflow.AdoptSetUp:
		m.order(workflow.Action{Kind: workflow.AdoptSetUp})
	default:
		m.order(workflow.Action{Kind: workflow.RunTests, Purpose: workflow.BaseTests, Commands: j.Settings.AllTestCommands()})
	}
	if j.SettingUp && len(j.Pending) > 0 {
		m.saySetUp()
	}
}

// baseTested takes the result of the tests on the unchanged base.
func (m *machine) baseTested(e workflow.TestsEnded) {
	j := &m.run.Details
	b := j.BaseCheck(e)
	j.Tested = &b
	if j.SetUp != nil && j.SetUp.Status == workflow.SetUpFailed {
		m.baseDone() // a failure says nothing without the setup
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
	// No change would make these commands pass, so the run stops before the first paid call.
	stop := m.problem(workflow.CategoryTest, workflow.TestsCannotRun, "the tests cannot run", strings.Join(why, "\n"))
	stop.Next = corrections(&b, j.Settings.Goals(), m.run.Artifacts.RequestPath)
	last := len(stop.Next) - 1
	stop.Next[last] = stop.Next[last].Following(m.run.ThenResume())
	stop.Next = append(stop.Next, m.run.Forced("or go on without knowing what they say"))
	stop.RelatedPaths = paths(b.LogPath)
	m.stop(stop)
}

// unsettled repeats tests that ran out of time or memory or were killed, and stops for a person the second time: the cause may be the machine or
// the limit, so the change is not blamed. It reports whether it did. With meant, such an end is a result like any other.
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
	stop.Next = []workflow.NextStep{r.Ask("see how far they got", workflow.VerbLogs),
		workflow.Advice("free what they ran out of, or raise the limit that they met for later runs (limits.test_total, set_up_total or checks_total)").Following(r.Ask("then run them again", workflow.VerbResume))}
	stop.RelatedPaths = paths(e.LogPath)
	m.order(m.answered)
	m.stop(stop)
	return true
}

// baseDone ends the setup after the tests of the base: the environment becomes a snapshot unless it came from one, or its setup failed.
func (m *machine) baseDone() {
	j := &m.run.Details
	switch s := j.SetUp; {
	case s != nil && s.Status == workflow.SetUpFailed:
		m.setUpSays("warning: the environment's setup failed, the work goes on without it")
	case j.Warm && (s == nil || s.Warm):
		m.setUpDone("set up before and verified again")
	default:
		keep := workflow.Action{Kind: workflow.SnapshotEnvironment}
		if m.answered.Kind == workflow.RunTests {
			keep.Purpose = workflow.BaseTests // the tests left something in it
		}
		m.order(keep)
		m.saySetUp()
	}
}

// knownFlag begins the flag that tells a person which tests still fail.
const knownFlag = "these tests failed before the change and still do: "

// corrections returns what a person can do about those of the tests that say nothing about any change, each as a step that others follow.
func corrections(b *workflow.BaseCheck, tests []string, request string) (steps []workflow.NextStep) {
	var files []string
	for i := range b.Failures {
		f := &b.Failures[i]
		if !f.CannotRun() || !slices.Contains(tests, f.Command) {
			continue
		}
		file := ".signalbox/config.yaml"
		if f.OfRequest && request != "" {
			file = request
		}
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
		switch program, _, _ := strings.Cut(f.Command, " "); {
		case !strings.HasPrefix(program, "./"):
		case f.ExitCode == workflow.ExitNotFound:
			steps = append(steps, workflow.Advice(fmt.Sprintf("a run sees only what is committed: if you have %s here, git add %[1]s && git commit", program)))
		case f.ExitCode == workflow.ExitNotExecutable:
			steps = append(steps, workflow.Advice(fmt.Sprintf("let %s be executed: chmod +x %[1]s, and commit that; or start it with its shell: sh %[1]s", program)))
		}
	}
	return append(steps, workflow.Advice("correct tests in "+strings.Join(files, " and ")+", or have environment.set_up install what they need"))
}
