package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// BaseCheck is what the project's tests came to on the commit where the branch begins, before anything
// was changed. It is found out before the first paid call wherever that needs no model.
type BaseCheck struct {
	// Commit is where they ran, Fingerprint that of the environment in which they did.
	Commit      string `json:"commit"`
	Fingerprint string `json:"fingerprint,omitempty"`
	// Image is that of the containers in which they ran; empty without any.
	Image  string     `json:"image,omitempty"`
	Status BaseStatus `json:"status"`
	// Failures are the test commands that failed, or ran no test, in the order in which they ran.
	Failures   []TestFailure `json:"failures,omitempty"`
	DurationMS int64         `json:"duration_ms"`
	LogPath    string        `json:"log_path,omitempty"`
	// Remembered: an earlier run found it out, on the same commit in the same environment.
	Remembered bool `json:"remembered,omitzero"`
	// Forced: a person said that the run goes on although the tests cannot tell anything.
	Forced  bool    `json:"forced,omitzero"`
	Unknown Unknown `json:",embed"`
}

// BaseStatus is the outcome of a BaseCheck.
type BaseStatus string

const (
	BasePassed   BaseStatus = "passed"
	BaseFailed   BaseStatus = "failed"
	BaseUntested BaseStatus = "untested" // the set-up failed, so the tests say nothing yet
)

// TestFailure is a test command that failed. One that passed without running a test counts, too, on the base.
type TestFailure struct {
	Command  string `json:"command"`
	ExitCode int    `json:"exit_code"`
	// Tests are the failing tests by the names that their runner printed. Unnamed: something failed
	// that has no name, so Tests are not all of it.
	Tests   []string `json:"tests,omitempty"`
	Unnamed bool     `json:"unnamed,omitzero"`
	// Unsettled: it did not end by itself but ran out of time or memory, or was killed.
	Unsettled bool `json:"unsettled,omitzero"`
	// NoTests: no test ran.
	NoTests bool `json:"no_tests,omitzero"`
	// Asked are those of Tests that the request is about: its text names them, or it brings the command itself.
	Asked []string `json:"asked,omitempty"`
	// Summary is how it failed, a few lines.
	Summary string  `json:"summary,omitempty"`
	Unknown Unknown `json:",embed"`
}

// Exit codes by which sh says that a program cannot be run.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// cannotRun: no change of the project's code would make the command pass.
func (f *TestFailure) cannotRun() bool {
	return !f.Unsettled && (f.NoTests || f.ExitCode == exitNotExecutable || f.ExitCode == exitNotFound)
}

// failed: the command itself failed.
func (f *TestFailure) failed() bool { return f.ExitCode != 0 || f.Unsettled }

// Told is the failure in the words of a prompt: the tests by name where all of them have one.
func (f *TestFailure) Told() string {
	if len(f.Tests) == 0 || f.Unnamed {
		return firstOf(f.Summary, f.Command)
	}
	return f.Command + ": " + strings.Join(f.Tests, ", ")
}

// paysPlanner: a planner is called before anything else is paid for.
func (m *machine) paysPlanner() bool {
	return len(m.run.Steps) == 0 && m.run.Journey.Phases[DesignCheck].Status != StepSkipped
}

// openBase sets the environment up and runs the tests in it as far as no model is needed for that, before a
// planner is paid. Without a planner the set-up itself comes before anything that is paid.
func (m *machine) openBase(note string) {
	j := &m.run.Journey
	j.SetUp = j.chosenSetUp(nil)
	if !m.paysPlanner() || !j.Settings.Proves() {
		j.SetUp = nil
		m.advance(note)
		return
	}
	j.Phases[j.Phase].Note, j.SettingUp = note, true
	m.renew("")
}

// beforePlan: what is being set up is only to be looked at, see openBase.
func (m *machine) beforePlan() bool { return m.run.Journey.Phase == EnvCreate }

// testBase has the tests run before anything is changed, once the environment is what it will be. What fails there is not
// the change's to answer for, and what the tests left in the build caches is kept with the environment.
func (m *machine) testBase() {
	j := &m.run.Journey
	switch {
	case !j.Settings.Proves() || m.baseKnown():
		m.baseDone()
	case j.SetUp != nil && j.SetUp.Status == SetUpSucceeded && !j.SetUp.Warm:
		m.order(Action{Kind: AdoptSetUp})
	default:
		m.runBaseTests()
		return
	}
	m.sayIfSettingUp()
}

func (m *machine) setUpAdopted(e SetUpAdopted) {
	m.run.Journey.SetUp.Loose = e.Loose
	m.runBaseTests()
}

func (m *machine) runBaseTests() {
	m.order(Action{Kind: RunTests, Purpose: BaseTests, Commands: m.run.Journey.Settings.AllTestCommands()})
	m.saySetUp()
}

func (m *machine) sayIfSettingUp() {
	if j := &m.run.Journey; j.SettingUp && len(j.Pending) > 0 {
		m.saySetUp()
	}
}

// baseKnown: the tests ran on the base already, in an environment like this one. Where they passed, what was set up since
// makes no difference, but other containers do: the programs that the tests start may not be in them.
func (m *machine) baseKnown() bool {
	j := &m.run.Journey
	b, failed := j.Tested, j.SetUp != nil && j.SetUp.Status == SetUpFailed
	switch {
	case b == nil || b.Commit != j.BaseCommit || b.Status == BaseUntested:
		return false
	case b.Forced:
		return true
	}
	return !failed && b.Image == j.Image() && (b.Fingerprint == j.Fingerprint || b.Status == BasePassed)
}

// baseTested takes what the tests came to where nothing is changed.
func (m *machine) baseTested(e TestsEnded) {
	j := &m.run.Journey
	b := j.BaseCheck(e)
	j.Tested = &b
	if j.SetUp != nil && j.SetUp.Status == SetUpFailed {
		m.baseDone() // nothing else was to be expected
		return
	}
	if m.unsettled(e, m.asksForTimeout()) {
		return
	}
	if why := b.cannotRun(j.Settings.goals()); len(why) > 0 {
		m.stopUntestable(why)
		return
	}
	m.baseDone()
}

// BaseCheck is what tests of the base say that ended so.
func (j *Journey) BaseCheck(e TestsEnded) BaseCheck {
	b := BaseCheck{Commit: j.BaseCommit, Fingerprint: j.Fingerprint, Image: j.Image(), Status: BasePassed, Failures: e.failures(),
		DurationMS: e.DurationMS, LogPath: e.LogPath}
	if !e.Passed {
		b.Status = BaseFailed
	}
	return b
}

// Tells reports whether the tests said something about the base: all of them ran, and ended by themselves.
func (b *BaseCheck) Tells(s *Settings) bool {
	return len(b.cannotRun(s.goals())) == 0 && !slices.ContainsFunc(b.Failures, func(f TestFailure) bool { return f.Unsettled })
}

// asksForTimeout: the run repairs a health check, and a check may fail by taking too long.
func (m *machine) asksForTimeout() bool { return m.run.Journey.Settings.Check != nil }

// cannotRun are those of the tests that say nothing about any change, a line for people each.
func (b *BaseCheck) cannotRun(tests []string) (why []string) {
	for i := range b.Failures {
		f := &b.Failures[i]
		switch {
		case !slices.Contains(tests, f.Command):
		case f.cannotRun() && f.NoTests:
			why = append(why, fmt.Sprintf("%s: no test ran", f.Command))
		case f.cannotRun():
			why = append(why, firstOf(f.Summary, fmt.Sprintf("%s: exit code %d", f.Command, f.ExitCode)))
		}
	}
	return why
}

// stopUntestable stops the run before anything was paid for: no change would make these commands pass.
func (m *machine) stopUntestable(why []string) {
	r, j := &m.run, &m.run.Journey
	stop := m.problem(CategoryTest, TestsCannotRun, "the tests cannot run", strings.Join(why, "\n"))
	stop.Next = []NextStep{
		Advice("correct tests in .signalbox/config.yaml, or have environment.set_up install what they need").Following(r.ThenResume()),
		r.Forced("or go on without knowing what they say")}
	stop.RelatedPaths = paths(j.Tested.LogPath)
	m.stop(stop)
}

// unsettled repeats tests that did not end by themselves, and stops for a person the second time: the machine may be at fault,
// or the limit, and the change is not blamed for either. It reports whether it did.
func (m *machine) unsettled(e TestsEnded, meant bool) bool {
	r, j := &m.run, &m.run.Journey
	if meant || !slices.ContainsFunc(e.Failures, func(f TestFailure) bool { return f.Unsettled }) {
		j.Used.TestRetries = 0
		return false
	}
	if j.Used.TestRetries == 0 {
		j.Used.TestRetries++
		r.Counters.Retries++
		m.order(m.answered)
		m.say("the tests did not end by themselves, once more: %s", firstLine(e.Summary))
		return true
	}
	j.Used.TestRetries = 0
	stop := m.problem(CategoryTest, TestsNotSettled, "the tests did not end by themselves, twice", e.Summary)
	stop.Next = []NextStep{r.Ask("see where they stood", VerbLogs),
		Advice("free what they ran out of, or raise the limit that they met for later runs (limits.test_total, set_up_total or checks_total)").Following(r.Ask("then run them again", VerbResume))}
	stop.RelatedPaths = paths(e.LogPath)
	m.order(m.answered)
	m.stop(stop)
	return true
}

// baseDone goes on from the set-up, the tests of the base included.
func (m *machine) baseDone() {
	j := &m.run.Journey
	switch s := j.SetUp; {
	case s != nil && s.Status == SetUpFailed:
		m.setUpGoesOn()
	case j.Warm && (s == nil || s.Warm):
		m.setUpDone("set up before and verified again")
	default:
		keep := Action{Kind: KeepEnvironment}
		if m.answered.Kind == RunTests {
			keep.Purpose = BaseTests // they left something
		}
		m.order(keep)
		m.saySetUp()
	}
}

// baseNote is what the check of the base came to, for the phase in which it ran.
func (j *Journey) baseNote() string {
	switch b := j.Tested; {
	case b == nil:
		return "ready"
	case b.Status == BasePassed:
		return "the tests pass on " + j.Base
	case b.Status == BaseFailed:
		return "tests fail on " + j.Base + " already"
	}
	return "the set-up failed, so no test ran on " + j.Base
}

// baseFails: the tests failed where nothing was changed yet.
func (j *Journey) baseFails() bool {
	return j.Tested != nil && j.Tested.Commit == j.BaseCommit && j.Tested.Status == BaseFailed
}

// FailedBefore are the tests, or the commands whose tests have no names, that failed before anything was changed.
func (j *Journey) FailedBefore() (told []string) {
	if !j.baseFails() {
		return nil
	}
	for i := range j.Tested.Failures {
		if f := &j.Tested.Failures[i]; f.failed() {
			told = append(told, f.Told())
		}
	}
	return told
}

// Excuses are the tests that fail as they failed before anything was changed, if nothing else does; nil otherwise. A test that the request
// is about has to pass, and so does the health check that a run repairs.
func (j *Journey) Excuses(failures []TestFailure) (known []string) {
	if !j.baseFails() {
		return nil
	}
	for i := range failures {
		f := &failures[i]
		if !f.failed() {
			continue
		}
		if f.Unnamed || f.Unsettled || len(f.Tests) == 0 || !slices.Contains(j.Settings.goals(), f.Command) {
			return nil
		}
		before := j.Tested.of(f.Command)
		for _, name := range f.Tests {
			if before == nil || before.Unnamed || !slices.Contains(before.Tests, name) || slices.Contains(before.Asked, name) {
				return nil
			}
			known = append(known, name)
		}
	}
	return known
}

// AgreedExcuses are Excuses that a person has seen and agreed to.
func (j *Journey) AgreedExcuses(failures []TestFailure) []string {
	if j.Approval == nil || j.Approval.Commit != j.Head {
		return nil
	}
	return j.Excuses(failures)
}

// goals are the project's own tests, without what a repair has to make pass.
func (s *Settings) goals() []string { return slices.Concat(s.Tests[:s.Looking()], s.TestsE2E) }

// forced is b if a person said that the run goes on from commit, whatever its tests say, else nil.
func (b *BaseCheck) forced(commit string) *BaseCheck {
	if b == nil || !b.Forced || b.Commit != commit {
		return nil
	}
	return b
}

func (b *BaseCheck) of(command string) *TestFailure {
	i := slices.IndexFunc(b.Failures, func(f TestFailure) bool { return f.Command == command })
	if i < 0 {
		return nil
	}
	return &b.Failures[i]
}

// failures are those of the event; one that was told without them has no names.
func (e *TestsEnded) failures() []TestFailure {
	if e.Passed || len(e.Failures) > 0 {
		return e.Failures
	}
	return []TestFailure{{Command: e.Command, ExitCode: 1, Unnamed: true, Summary: e.Summary}}
}

// knownFlag begins the flag by which a person learns what still fails.
const knownFlag = "these tests failed before the change and still do: "
