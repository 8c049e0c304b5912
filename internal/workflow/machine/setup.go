package machine

import (
	"fmt"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// openSetUp begins the set-up sub-phase, or passes it by when there is nothing to set up.
func (m *machine) openSetUp() {
	j := &m.run.Details
	if j.SetUp == nil {
		j.SetUp = j.ChosenSetUp(nil)
	}
	if j.SetUp == nil && !j.Settings.Proves() {
		m.advance(wording.Count(len(m.run.Steps), "step"))
		return
	}
	j.SettingUp = true
	m.renew("")
}

// renew has the environment brought to where the set-up begins. A reason drops
// what was kept for it.
func (m *machine) renew(reason string) {
	m.run.Details.SetUp.BeginAgain()
	m.order(workflow.Action{Kind: workflow.RestoreEnvironment, Reason: reason})
	m.saySetUp()
}

// environmentRenewed goes to the first command, or straight to the verification
// of an environment whose set-up was kept.
func (m *machine) environmentRenewed(e workflow.EnvironmentRestored) {
	j := &m.run.Details
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
	s := m.run.Details.SetUp
	commands := len(s.Commands)
	switch n := s.Next; {
	case n < commands:
		m.order(workflow.Action{Kind: workflow.RunSetUp, Attempt: n + 1, Commands: []string{s.Commands[n]}})
	case n < commands+len(s.Verification):
		v := s.Verification[n-commands]
		m.order(workflow.Action{Kind: workflow.RunSetUp, Attempt: n + 1, Commands: []string{v.Command}, Expected: &v.Expected})
	default:
		s.Status, s.Class = workflow.SetUpSucceeded, ""
		m.testBase()
		return
	}
	m.saySetUp()
}

func (m *machine) environmentKept(e workflow.SnapshotTaken) {
	if s := m.run.Details.SetUp; s != nil && len(e.Untracked) > 0 {
		s.Untracked = e.Untracked
	}
	how := "set up and verified"
	if e.Problem != "" {
		how += ", not kept for later: " + e.Problem
	}
	m.setUpDone(how)
}

func (m *machine) setUpDone(how string) {
	j := &m.run.Details
	if j.SetUp != nil {
		how = fmt.Sprintf("environment %q %s", j.SetUp.Name, how)
	} else {
		how = j.BaseNote()
	}
	if m.beforePlan() {
		j.SetUp = nil // the plan has a word on it
	} else {
		how = wording.Count(len(m.run.Steps), "step") + "; " + how
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

func (m *machine) setUpEnded(e workflow.SetUpEnded) {
	j := &m.run.Details
	s, used := j.SetUp, &j.Used
	if e.OK {
		s.Ended(workflow.CommandRun{Command: m.answered.Commands[0], DurationMS: e.DurationMS, LogPath: e.LogPath}, m.answered.Expected != nil)
		used.SetUpWaits()
		m.runSetUp()
		return
	}
	if s.Warm {
		s.Dropped = "what was kept does not work any more: " + wording.FirstLine(e.Message)
		m.renew(s.Dropped)
		return
	}
	s.Class = e.Class
	s.Errors = append(s.Errors, e.Message)
	j.Failure = e.Message
	switch {
	case e.Class == workflow.FailureNetwork && used.NetworkWaits < len(networkWaits):
		used.NetworkWaits++
		s.NetworkRetries++
		wait := networkWaits[used.NetworkWaits-1]
		m.waitThenAgain(wait, again(wait, "the network", used.NetworkWaits, len(networkWaits))+": "+s.Why())
	case e.Class == workflow.FailureServer && used.ServerWaits < maxServerWaits:
		used.ServerWaits++
		m.waitThenAgain(serverWait, again(serverWait, "a server", used.ServerWaits, maxServerWaits)+": "+s.Why())
	case e.Class == workflow.FailureLock && used.LockWaits < maxLockWaits:
		used.LockWaits++
		m.waitThenAgain(lockWait, again(lockWait, "another package manager", used.LockWaits, maxLockWaits)+": "+s.Why())
	case m.beforePlan():
		m.setUpFailed(e.Message)
	case e.Class == workflow.FailureFixable && used.SetUpRepairs < j.Settings.Limits.SetUpRepairs && !j.Settings.NoRepairer:
		used.SetUpRepairs++
		m.call(workflow.Action{Role: workflow.Repairer, Reason: e.Message})
		m.saySetUp()
	default:
		m.setUpFailed(e.Message)
	}
}

func again(wait time.Duration, whom string, n, of int) string {
	return fmt.Sprintf("waiting %s for %s, retry %d of %d", wait, whom, n, of)
}

// repairAnswered starts the corrected set-up from its first command, in the
// environment as it is: the container and the clone are made once (P5).
func (m *machine) repairAnswered(e workflow.RepairAnswered) {
	s := m.run.Details.SetUp
	s.Commands, s.Next, s.Repaired, s.Ran, s.Verified = e.Repair.SetupCommands, 0, true, nil, nil
	m.run.Details.Used.SetUpWaits()
	if len(e.Repair.Verification) > 0 {
		s.Verification = e.Repair.Verification
	}
	m.runSetUp()
}

// setUpFailed tells the people on the forge and goes on to execution with a
// warning, or stops where the configuration says so (P7).
func (m *machine) setUpFailed(message string) {
	r, j := &m.run, &m.run.Details
	j.SetUp.Status = workflow.SetUpFailed
	j.Failure = message
	if m.beforePlan() {
		j.Tested = &workflow.BaseCheck{Commit: j.BaseCommit, Status: workflow.BaseUntested}
		m.setUpSays(wording.FirstLine("the set-up failed before the plan, so no test has run: " + j.SetUp.Why()))
		return
	}
	if j.Settings.StopOnSetUpFailure {
		stop := m.problem(workflow.CategoryEnvironment, workflow.SetupFailedCode, "the environment cannot be set up", message)
		stop.Next = []workflow.NextStep{r.Ask("see what failed", workflow.VerbEnvironmentLogs), r.Ask("mend it, then", workflow.VerbResume),
			r.GiveUp("or, where the commands are wrong, which a run reads once").Following(workflow.Advice("mend them"), r.Ask("", workflow.VerbRun))}
		j.SetUp.BeginAgain()
		m.stop(stop)
		return
	}
	m.order(workflow.Action{Kind: workflow.PostComment, Reason: workflow.SetUpComment(j)})
	m.saySetUp()
}

// setUpSays ends the sub-phase. Its phase may have a note already: why it was
// left out, but for the set-up, which never is.
func (m *machine) setUpSays(note string) {
	if record := &m.run.Details.Phases[m.run.Details.Phase]; record.Note != "" {
		record.Note += "; " + note
	}
	m.advance(note)
}
