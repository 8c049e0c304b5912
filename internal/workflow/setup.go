package workflow

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// openSetUp begins the set-up sub-phase, or passes it by when there is nothing to set up.
func (m *machine) openSetUp() {
	j := &m.run.Journey
	if j.SetUp == nil {
		j.SetUp = j.chosenSetUp(nil)
	}
	if j.SetUp == nil && !j.Settings.Proves() {
		m.advance(countNote(len(m.run.Steps), "step"))
		return
	}
	j.SettingUp = true
	m.renew("")
}

// SetUpFor is the set-up of a project that nobody plans anything for: the configuration's, or what its
// files ask for; nil if there is nothing to set up.
func SetUpFor(s Settings, found Detection) *SetUp {
	j := Journey{Settings: s, Detection: &found}
	return j.chosenSetUp(nil)
}

// ImageFor is the container image that goes with it; empty leaves it to the driver.
func ImageFor(s Settings, found Detection) string {
	j := Journey{Settings: s, Detection: &found}
	return j.Image()
}

// chosenSetUp is the set-up by whoever has the first word on it: the configuration,
// the plan, the project's files. Nil means that there is nothing to set up.
func (j *Journey) chosenSetUp(planned *PlanSetUp) *SetUp {
	var s SetUp
	switch d := j.Detection; {
	case j.Settings.NoSetUp:
	case len(j.Settings.SetUp)+len(j.Settings.Verification) > 0:
		s = SetUp{Source: SetUpByConfiguration, Commands: j.Settings.SetUp, Verification: j.Settings.Verification}
	case planned != nil:
		s = j.plannedSetUp(planned)
	case d != nil:
		s = SetUp{Source: SetUpByDetection, Commands: d.SetUp, Verification: d.Verification}
	}
	s.Name = firstOf(j.Settings.EnvironmentName, s.Name, j.EnvironmentName())
	if len(s.Commands)+len(s.Verification) == 0 && s.Name == j.EnvironmentName() {
		return nil
	}
	return &s
}

// plannedSetUp is the plan's. What it leaves out is what the environment that it names has by default, and where it says
// the same as that, word for word, no model wrote it.
func (j *Journey) plannedSetUp(p *PlanSetUp) SetUp {
	name := firstOf(j.Settings.EnvironmentName, p.Name, DefaultEnvironment)
	s := j.ownSetUp(name)
	if len(p.SetupCommands) > 0 && !slices.Equal(p.SetupCommands, s.Commands) {
		s = SetUp{Name: name, Source: SetUpByPlan, Commands: p.SetupCommands}
	}
	if len(p.Verification) > 0 && !slices.EqualFunc(p.Verification, s.Verification, sameVerification) {
		s.Source, s.Verification = SetUpByPlan, p.Verification
	}
	return s
}

func sameVerification(a, b Verification) bool {
	return a.Command == b.Command && a.Expected == b.Expected
}

// ownSetUp is an environment's without any word of a model: what the project's files ask for, or its defaults.
func (j *Journey) ownSetUp(name string) SetUp {
	if d := j.Detection; d != nil && d.Environment == name {
		return SetUp{Name: name, Source: SetUpByDetection, Commands: d.SetUp, Verification: d.Verification}
	} else if d != nil {
		own := d.Defaults[name]
		return SetUp{Name: name, Source: SetUpByDefault, Commands: own.SetUp, Verification: own.Verification}
	}
	return SetUp{Name: name, Source: SetUpByDefault}
}

// renew has the environment brought to where the set-up begins. A reason drops
// what was kept for it.
func (m *machine) renew(reason string) {
	m.run.Journey.SetUp.beginAgain()
	m.order(Action{Kind: RenewEnvironment, Reason: reason})
	m.saySetUp()
}

// environmentRenewed goes to the first command, or straight to the verification
// of an environment whose set-up was kept.
func (m *machine) environmentRenewed(e EnvironmentRenewed) {
	j := &m.run.Journey
	j.Fingerprint, j.Warm = e.Fingerprint, e.Warm && m.answered.Reason == ""
	if e.Tested != nil && j.Tested == nil {
		tested := *e.Tested
		tested.Remembered = true
		j.Tested = &tested
	}
	s := j.SetUp
	if s == nil {
		m.testBase()
		return
	}
	s.Fingerprint, s.Warm = e.Fingerprint, e.Warm && m.answered.Reason == ""
	if s.Warm {
		s.Next = len(s.Commands)
	}
	m.runSetUp()
}

// runSetUp orders the next set-up or verification command.
func (m *machine) runSetUp() {
	s := m.run.Journey.SetUp
	commands := len(s.Commands)
	switch n := s.Next; {
	case n < commands:
		m.order(Action{Kind: RunSetUp, Attempt: n + 1, Commands: []string{s.Commands[n]}})
	case n < commands+len(s.Verification):
		v := s.Verification[n-commands]
		m.order(Action{Kind: RunSetUp, Attempt: n + 1, Commands: []string{v.Command}, Expected: &v.Expected})
	default:
		s.Status, s.Class = SetUpSucceeded, ""
		m.testBase()
		return
	}
	m.saySetUp()
}

func (m *machine) environmentKept(e EnvironmentKept) {
	if s := m.run.Journey.SetUp; s != nil && len(e.Loose) > 0 {
		s.Loose = e.Loose
	}
	how := "set up and verified"
	if e.Problem != "" {
		how += ", not kept for later: " + e.Problem
	}
	m.setUpDone(how)
}

func (m *machine) setUpDone(how string) {
	j := &m.run.Journey
	if j.SetUp != nil {
		how = fmt.Sprintf("environment %q %s", j.SetUp.Name, how)
	} else {
		how = j.baseNote()
	}
	if m.beforePlan() {
		j.SetUp = nil // the plan has a word on it
	} else {
		how = countNote(len(m.run.Steps), "step") + "; " + how
	}
	m.setUpSays(how)
}

// Waits before a set-up command is tried again, by the class of its failure (P6).
var (
	networkWaits = []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}
	serverWait   = 10 * time.Second
	lockWait     = 3 * time.Second
)

const (
	maxServerWaits = 3
	maxLockWaits   = 5
)

func (m *machine) setUpEnded(e SetUpEnded) {
	j := &m.run.Journey
	s, used := j.SetUp, &j.Used
	if e.OK {
		s.ended(CommandRun{Command: m.answered.Commands[0], DurationMS: e.DurationMS, LogPath: e.LogPath}, m.answered.Expected != nil)
		used.setUpWaits()
		m.runSetUp()
		return
	}
	if s.Warm {
		s.Dropped = "what was kept does not work any more: " + firstLine(e.Message)
		m.renew(s.Dropped)
		return
	}
	s.Class = e.Class
	s.Errors = append(s.Errors, e.Message)
	j.Failure = e.Message
	switch {
	case e.Class == FailureNetwork && used.NetworkWaits < len(networkWaits):
		used.NetworkWaits++
		s.NetworkRetries++
		wait := networkWaits[used.NetworkWaits-1]
		m.waitThenAgain(wait, again(wait, "the network", used.NetworkWaits, len(networkWaits))+": "+s.why())
	case e.Class == FailureServer && used.ServerWaits < maxServerWaits:
		used.ServerWaits++
		m.waitThenAgain(serverWait, again(serverWait, "a server", used.ServerWaits, maxServerWaits)+": "+s.why())
	case e.Class == FailureLock && used.LockWaits < maxLockWaits:
		used.LockWaits++
		m.waitThenAgain(lockWait, again(lockWait, "another package manager", used.LockWaits, maxLockWaits)+": "+s.why())
	case m.beforePlan():
		m.setUpFailed(e.Message)
	case e.Class == FailureFixable && used.SetUpRepairs < j.Settings.Limits.SetUpRepairs && !j.Settings.NoRepairer:
		used.SetUpRepairs++
		m.call(Action{Role: Repairer, Reason: e.Message})
		m.saySetUp()
	default:
		m.setUpFailed(e.Message)
	}
}

func again(wait time.Duration, whom string, n, of int) string {
	return fmt.Sprintf("waiting %s for %s, retry %d of %d", wait, whom, n, of)
}

// ended notes down a command that ended well and goes on to the next.
func (s *SetUp) ended(run CommandRun, verification bool) {
	s.Next++
	if verification {
		s.Verified = append(s.Verified, run)
	} else {
		s.Ran = append(s.Ran, run)
	}
}

// repairAnswered starts the corrected set-up from its first command, in the
// environment as it is: the container and the clone are made once (P5).
func (m *machine) repairAnswered(e RepairAnswered) {
	s := m.run.Journey.SetUp
	s.Commands, s.Next, s.Repaired, s.Ran, s.Verified = e.Repair.SetupCommands, 0, true, nil, nil
	m.run.Journey.Used.setUpWaits()
	if len(e.Repair.Verification) > 0 {
		s.Verification = e.Repair.Verification
	}
	m.runSetUp()
}

// setUpFailed tells the people on the forge and goes on to execution with a
// warning, or stops where the configuration says so (P7).
func (m *machine) setUpFailed(message string) {
	r, j := &m.run, &m.run.Journey
	j.SetUp.Status = SetUpFailed
	j.Failure = message
	if m.beforePlan() {
		j.Tested = &BaseCheck{Commit: j.BaseCommit, Status: BaseUntested}
		m.setUpSays(firstLine("the set-up failed before the plan, so no test has run: " + j.SetUp.why()))
		return
	}
	if j.Settings.StopOnSetUpFailure {
		stop := m.problem(CategoryEnvironment, SetupFailedCode, "the environment cannot be set up", message)
		stop.Next = []NextStep{r.Ask("see what failed", VerbEnvironmentLogs), r.Ask("mend it, then", VerbResume),
			r.GiveUp("or, where the commands are wrong, which a run reads once").Following(Advice("mend them"), r.Ask("", VerbRun))}
		j.SetUp.beginAgain()
		m.stop(stop)
		return
	}
	m.order(Action{Kind: PostComment, Reason: SetUpComment(j)})
	m.saySetUp()
}

func (m *machine) setUpGoesOn() {
	m.setUpSays("warning: the environment's set-up failed, the work goes on without it")
}

// setUpSays ends the sub-phase. Its phase may have a note already: why it was
// left out, but for the set-up, which never is.
func (m *machine) setUpSays(note string) {
	if record := &m.run.Journey.Phases[m.run.Journey.Phase]; record.Note != "" {
		record.Note += "; " + note
	}
	m.advance(note)
}

// SetUpComment is the text of P7 for the people on the forge.
func SetUpComment(j *Journey) string {
	s := j.SetUp
	return fmt.Sprintf("## Environment set-up failed\n\n**Status**: failed with a warning ⚠\n**Environment**: %s\n\n"+
		"The set-up did not succeed; the work goes on with what there is.\n\n```\n%s\n```\n\n"+
		"- network retries: %d\n- corrections by the model: %d/%d\n- class of the error: %s\n",
		s.Name, strings.ReplaceAll(s.lastError(), "```", "` ` `"), s.NetworkRetries, j.Used.SetUpRepairs, j.Settings.Limits.SetUpRepairs, s.Class)
}
