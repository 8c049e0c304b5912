package workflow

import (
	"fmt"
	"time"
)

// openSetUp begins the set-up sub-phase, or passes it by when the plan has none.
func (m *machine) openSetUp() {
	j := &m.run.Journey
	if j.SetUp == nil {
		m.advance(countNote(len(m.run.Steps), "step"))
		return
	}
	j.SettingUp = true
	m.runSetUp()
}

// runSetUp orders the next set-up or verification command.
func (m *machine) runSetUp() {
	s := m.run.Journey.SetUp
	commands := len(s.Commands)
	switch n := s.Next; {
	case n < commands:
		m.say("set-up %d of %d: %s", n+1, commands, s.Commands[n])
		m.order(Action{Kind: RunSetUp, Attempt: n + 1, Commands: []string{s.Commands[n]}})
	case n < commands+len(s.Verification):
		v := s.Verification[n-commands]
		m.say("verifying %d of %d: %s", n-commands+1, len(s.Verification), v.Command)
		m.order(Action{Kind: RunSetUp, Attempt: n + 1, Commands: []string{v.Command}, Expected: &v.Expected})
	default:
		s.Status, s.Class = "success", ""
		m.advance(fmt.Sprintf("%s; environment %q set up and verified", countNote(len(m.run.Steps), "step"), s.Name))
	}
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
		s.Next++
		m.runSetUp()
		return
	}
	s.Class = e.Class
	s.Errors = append(s.Errors, e.Message)
	j.Failure = e.Message
	switch {
	case e.Class == FailureNetwork && used.NetworkWaits < len(networkWaits):
		used.NetworkWaits++
		m.waitThenAgain(networkWaits[used.NetworkWaits-1], "the network")
	case e.Class == FailureServer && used.ServerWaits < maxServerWaits:
		used.ServerWaits++
		m.waitThenAgain(serverWait, "a server")
	case e.Class == FailureLock && used.LockWaits < maxLockWaits:
		used.LockWaits++
		m.waitThenAgain(lockWait, "another package manager")
	case e.Class == FailureFixable && used.SetUpRepairs < j.Settings.Limits.SetUpRepairs && j.Settings.HasPlanner:
		used.SetUpRepairs++
		m.say("having the set-up corrected, %d of %d", used.SetUpRepairs, j.Settings.Limits.SetUpRepairs)
		m.call(Action{Role: Repairer, Reason: e.Message})
	default:
		m.setUpFailed(e.Message)
	}
}

// repairAnswered starts the corrected set-up from its first command.
func (m *machine) repairAnswered(e RepairAnswered) {
	s := m.run.Journey.SetUp
	s.Commands, s.Next = e.Repair.SetupCommands, 0
	if len(e.Repair.Verification) > 0 {
		s.Verification = e.Repair.Verification
	}
	m.runSetUp()
}

// setUpFailed tells the people on the forge and goes on to execution with a
// warning, or stops where the configuration says so (P7).
func (m *machine) setUpFailed(message string) {
	r, j := &m.run, &m.run.Journey
	j.SetUp.Status = "failed"
	j.Failure = message
	if j.Settings.StopOnSetUpFailure {
		stop := m.problem(CategoryEnvironment, "SETUP_FAILED", "the environment cannot be set up", message)
		stop.Actions = []string{"see what failed: signalbox logs " + r.Ref(), "mend it, then: signalbox resume " + r.Ref()}
		j.SetUp.Next, j.SetUp.Status = 0, ""
		m.stop(stop)
		return
	}
	m.order(Action{Kind: PostComment, Reason: SetUpComment(j.SetUp, j.Used)})
}

func (m *machine) commentPosted() {
	m.advance("warning: the environment's set-up failed, the work goes on without it")
}

// SetUpComment is the text of P7 for the people on the forge.
func SetUpComment(s *SetUp, used Used) string {
	last := ""
	if n := len(s.Errors); n > 0 {
		last = s.Errors[n-1]
	}
	return fmt.Sprintf("## Environment set-up failed\n\n**Environment**: %s\n\n"+
		"The set-up did not succeed; the work goes on with what there is.\n\n```\n%s\n```\n\n"+
		"- network retries: %d\n- corrections by the model: %d/3\n- class of the error: %s\n",
		s.Name, last, used.NetworkWaits, used.SetUpRepairs, s.Class)
}
