package machine

import (
	"fmt"
	"strings"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// openSetUp begins the setup within design-check, or skips it if there is nothing to set up.
func (m *machine) openSetUp() {
	j := &m.run.Details
	if j.SetUp == nil {
		j.SetUp = j.ChosenSetUp(nil)
	}
	if j.SetUp == nil && !j.Settings.HasTests() {
		m.advance(wording.Count(len(m.run.Steps), "step"))
		return
	}
	j.SettingUp = true
	m.restore("")
}

// restore brings the environment to where its setup begins: its snapshot, if there is one. With a reason, the snapshot is evicted first.
func (m *machine) restore(reason string) {
	m.run.Details.SetUp.BeginAgain()
	m.order(workflow.Action{Kind: workflow.RestoreEnvironment, Reason: reason})
	m.saySetUp()
}

// runSetUp orders the next setup or verification command.
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

// Waits before a setup command is tried again, by the class of its failure.
var (
	networkWaits = []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}
	serverWait   = 10 * time.Second
	lockWait     = 3 * time.Second
)

const (
	maxServerWaits = 3
	maxLockWaits   = 5
)

// setUpEnded continues with the next command, or decides by the class of the failure: wait, ask the repairer, or give the setup up.
func (m *machine) setUpEnded(e workflow.SetUpEnded) {
	j := &m.run.Details
	s, used := j.SetUp, &j.Used
	if e.OK {
		run := workflow.CommandRun{Command: m.answered.Commands[0], DurationMS: e.DurationMS, LogPath: e.LogPath}
		if m.answered.Expected != nil {
			s.Verified = append(s.Verified, run)
		} else {
			s.Ran = append(s.Ran, run)
		}
		s.Next++
		used.SetUpWaits()
		m.runSetUp()
		return
	}
	if s.Warm {
		s.Dropped = "what was kept does not work any more: " + wording.FirstLine(e.Message)
		m.restore(s.Dropped)
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
		m.waitThenAgain(wait, retrying(wait, "the network", used.NetworkWaits, len(networkWaits))+": "+s.Why())
	case e.Class == workflow.FailureServer && used.ServerWaits < maxServerWaits:
		used.ServerWaits++
		m.waitThenAgain(serverWait, retrying(serverWait, "a server", used.ServerWaits, maxServerWaits)+": "+s.Why())
	case e.Class == workflow.FailureLock && used.LockWaits < maxLockWaits:
		used.LockWaits++
		m.waitThenAgain(lockWait, retrying(lockWait, "another package manager", used.LockWaits, maxLockWaits)+": "+s.Why())
	case j.Phase == workflow.EnvCreate: // before the plan: no model is paid yet
		m.setUpFailed(e.Message)
	case e.Class == workflow.FailureFixable && used.SetUpRepairs < j.Settings.Limits.SetUpRepairs && !j.Settings.NoRepairer:
		used.SetUpRepairs++
		m.call(workflow.Action{Role: workflow.Repairer, Reason: e.Message})
		m.saySetUp()
	default:
		m.setUpFailed(e.Message)
	}
}

// setUpFailed posts a comment on the issue and continues with a warning, or stops if the configuration says so.
func (m *machine) setUpFailed(message string) {
	r, j := &m.run, &m.run.Details
	s := j.SetUp
	s.Status = workflow.SetUpFailed
	j.Failure = message
	if j.Phase == workflow.EnvCreate {
		j.Tested = &workflow.BaseCheck{Commit: j.BaseCommit, Status: workflow.BaseUntested}
		m.setUpSays(wording.FirstLine("the setup failed before the plan, so no test has run: " + s.Why()))
		return
	}
	if j.Settings.StopOnSetUpFailure {
		stop := m.problem(workflow.CategoryEnvironment, workflow.SetupFailedCode, "the environment cannot be set up", message)
		stop.Next = []workflow.NextStep{r.Ask("see what failed", workflow.VerbEnvironmentLogs), r.Ask("fix it, then", workflow.VerbResume),
			r.GiveUp("or, if the commands are wrong, which a run reads once").Following(workflow.Advice("fix them"), r.Ask("", workflow.VerbRun))}
		s.BeginAgain()
		m.stop(stop)
		return
	}
	comment := fmt.Sprintf("## Environment setup failed\n\n**Status**: failed with a warning ⚠\n**Environment**: %s\n\n"+
		"The setup did not succeed; the work goes on with what there is.\n\n```\n%s\n```\n\n"+
		"- network retries: %d\n- corrections by the model: %d/%d\n- class of the error: %s\n",
		s.Name, strings.ReplaceAll(s.LastError(), "```", "` ` `"), s.NetworkRetries, j.Used.SetUpRepairs, j.Settings.Limits.SetUpRepairs, s.Class)
	m.order(workflow.Action{Kind: workflow.PostComment, Reason: comment})
	m.saySetUp()
}

// setUpDone ends the setup with a note about the environment and, without a setup, about the tests of the base.
func (m *machine) setUpDone(how string) {
	j := &m.run.Details
	if j.SetUp != nil {
		how = fmt.Sprintf("environment %q %s", j.SetUp.Name, how)
	} else {
		switch b := j.Tested; {
		case b == nil:
			how = "ready"
		case b.Status == workflow.BasePassed:
			how = "the tests pass on " + j.Base
		case b.Status == workflow.BaseFailed:
			how = "tests fail on " + j.Base + " already"
		default:
			how = "the setup failed, so no test ran on " + j.Base
		}
	}
	if j.Phase == workflow.EnvCreate {
		j.SetUp = nil // the plan may choose another
	} else {
		how = wording.Count(len(m.run.Steps), "step") + "; " + how
	}
	m.setUpSays(how)
}

// setUpSays ends the setup with a note, which it adds to a note that the phase already has.
func (m *machine) setUpSays(note string) {
	if record := &m.run.Details.Phases[m.run.Details.Phase]; record.Note != "" {
		record.Note += "; " + note
	}
	m.advance(note)
}
