package machine

import (
	"fmt"
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// environmentAnswered takes what became of the actions that make and set up an environment. It reports whether the event is one of theirs.
func (m *machine) environmentAnswered(event workflow.Event) bool {
	j := &m.run.Details
	switch e := event.(type) {
	case workflow.DependenciesChecked:
		if len(e.Missing) > 0 {
			m.block(workflow.DependencyMissing, workflow.CategoryInput, workflow.DependencyMissingCode,
				"requests that must be merged first are not: "+strings.Join(e.Missing, ", "),
				workflow.NextStep{Text: "run them first", Verb: workflow.VerbRun, Runs: e.Missing})
			return true
		}
		m.order(workflow.Action{Kind: workflow.CreateBranch})
	case workflow.BranchCreated:
		j.BaseCommit, j.Head, j.StepBase, j.BranchAt = e.BaseCommit, e.BaseCommit, e.BaseCommit, e.BaseCommit
		m.advance("")
	case workflow.EnvironmentDetected:
		j.Detection = &e.Detection
		m.order(workflow.Action{Kind: workflow.CreateEnvironment})
	case workflow.EnvironmentCreated:
		m.environmentCreated(e)
	case workflow.EnvironmentRestored:
		warm := e.Warm && m.answered.Reason == ""
		j.Fingerprint, j.Warm = e.Fingerprint, warm
		if e.Tested != nil && j.Tested == nil {
			tested := *e.Tested
			tested.Remembered = true
			j.Tested = &tested
		}
		s := j.SetUp
		if s == nil {
			m.testBase()
			return true
		}
		if s.Fingerprint, s.Warm = e.Fingerprint, warm; warm { // only the verification is left
			s.Next = len(s.Commands)
		}
		m.runSetUp()
	case workflow.SetUpEnded:
		m.setUpEnded(e)
	case workflow.RepairAnswered:
		// The corrected setup starts at its first command, in the environment as it is: the container and the clone are made once.
		s := j.SetUp
		s.Commands, s.Next, s.Repaired, s.Ran, s.Verified = e.Repair.SetupCommands, 0, true, nil, nil
		j.Used.SetUpWaits()
		if len(e.Repair.Verification) > 0 {
			s.Verification = e.Repair.Verification
		}
		m.runSetUp()
	case workflow.SetUpAdopted:
		j.SetUp.Untracked = e.Untracked
		m.testBase()
	case workflow.CommentPosted:
		m.testBase()
	case workflow.SnapshotTaken:
		if s := j.SetUp; s != nil && len(e.Untracked) > 0 {
			s.Untracked = e.Untracked
		}
		how := "set up and verified"
		if e.Problem != "" {
			how += ", not kept for later: " + e.Problem
		}
		m.setUpDone(how)
	default:
		return false
	}
	return true
}

// environmentCreated sets the environment up and runs the tests in it before a planner is paid, as far as no model is needed. Without a
// planner, the setup itself comes before the first paid call.
func (m *machine) environmentCreated(e workflow.EnvironmentCreated) {
	j := &m.run.Details
	j.EnvID, j.EnvPath, j.Isolation, j.Fingerprint = e.EnvID, e.Path, e.Isolation, e.Fingerprint
	if j.EnvCreated.IsZero() {
		j.EnvCreated = m.now
	}
	j.EnvRemoved = false
	if b := j.Tested; b == nil || !b.Forced || b.Commit != j.BaseCommit { // a person's word on the tests of this commit still counts
		j.Tested = nil
	}
	note := "isolated by " + e.Isolation
	if e.Isolation == workflow.IsolationNone {
		note = "not isolated: commands run on this machine as you"
	}
	paysPlanner := len(m.run.Steps) == 0 && j.Phases[workflow.DesignCheck].Status != workflow.StepSkipped
	j.SetUp = j.ChosenSetUp(nil)
	if !paysPlanner || !j.Settings.HasTests() {
		j.SetUp = nil
		m.advance(note)
		return
	}
	j.Phases[j.Phase].Note, j.SettingUp = note, true
	m.restore("")
}

// sayDoing tells people what the run is doing, when it continues where it was.
func (m *machine) sayDoing() {
	j := &m.run.Details
	step := m.currentStep()
	switch {
	case j.SettingUp && len(j.Pending) > 0:
		m.saySetUp()
	case len(j.Pending) > 0 && j.Pending[0].Kind == workflow.MergeBase:
		m.say("merging %s into the change", j.Base)
	case step != nil && len(j.Pending) > 0:
		m.say("%s %s: %s", step.StepID, step.Title, j.Phase.Position().Doing)
	case j.Phases[j.Phase].Status == workflow.StepSkipped: // design-check without a planner
		m.say("one step, the whole request")
	default:
		m.say("%s", j.Phase.Position().Doing)
	}
}

// saySetUp tells people what the setup does next.
func (m *machine) saySetUp() {
	j := &m.run.Details
	s, environment := j.SetUp, "environment"
	if name := j.EnvironmentName(); j.Settings.EnvironmentName != "" || name != workflow.DefaultEnvironment || j.Detection != nil && len(j.Detection.Files) > 0 {
		environment = fmt.Sprintf("environment %q", name) // the default says nothing about a project that shows nothing
	}
	if s == nil {
		s = &workflow.SetUp{}
	}
	commands := len(s.Commands)
	switch a := j.Pending[0]; a.Kind {
	case workflow.RestoreEnvironment:
		m.say("preparing the %s", environment)
		if a.Reason != "" {
			m.say("preparing the %s from nothing: %s", environment, a.Reason)
		}
	case workflow.Wait, workflow.RunSetUp:
		if s.Next < commands {
			m.say("setup %d of %d: %s", s.Next+1, commands, wording.Printable(s.Commands[s.Next]))
		} else if n := s.Next - commands; n < len(s.Verification) {
			m.say("verifying %d of %d: %s", n+1, len(s.Verification), wording.Printable(s.Verification[n].Command))
		}
	case workflow.SnapshotEnvironment:
		m.say("keeping the %s", environment)
	case workflow.AdoptSetUp:
		m.say("the %s is set up", environment)
	case workflow.CallAgent:
		m.say("having the setup corrected, %d of %d: %s", max(1, j.Used.SetUpRepairs), j.Settings.Limits.SetUpRepairs, s.Why())
	case workflow.RunTests:
		m.say("running the tests before anything is changed")
		if s.Status == workflow.SetUpFailed {
			m.say("running the tests before anything is changed, because the setup failed")
		}
	case workflow.PostComment:
		m.say("%s; the work goes on without it", s.Failure())
	}
}
