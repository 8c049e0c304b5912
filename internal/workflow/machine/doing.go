package machine

import (
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// sayDoing tells people what the run is at when it goes on where it was.
func (m *machine) sayDoing() {
	j := &m.run.Details
	step := m.currentStep()
	switch {
	case j.SettingUp && len(j.Pending) > 0:
		m.saySetUp()
	case step != nil && len(j.Pending) > 0:
		m.say("%s %s: %s", step.StepID, step.Title, j.Phase.Position().Doing)
	case j.Phases[j.Phase].Status == workflow.StepSkipped: // of design-check the plan of one step is left
		m.say("one step, the whole request")
	default:
		m.say("%s", j.Phase.Position().Doing)
	}
}

// saySetUp tells people what of the set-up is done next.
func (m *machine) saySetUp() {
	j := &m.run.Details
	s, name := j.SetUp, j.EnvironmentName()
	if s == nil {
		s = &workflow.SetUp{}
	}
	commands := len(s.Commands)
	switch a := j.Pending[0]; a.Kind {
	case workflow.RestoreEnvironment:
		m.say("preparing the environment %q", name)
		if a.Reason != "" {
			m.say("preparing the environment %q from nothing: %s", name, a.Reason)
		}
	case workflow.Wait, workflow.RunSetUp:
		if s.Next < commands {
			m.say("set-up %d of %d: %s", s.Next+1, commands, wording.Printable(s.Commands[s.Next]))
		} else if n := s.Next - commands; n < len(s.Verification) {
			m.say("verifying %d of %d: %s", n+1, len(s.Verification), wording.Printable(s.Verification[n].Command))
		}
	case workflow.SnapshotEnvironment:
		m.say("keeping the environment %q", name)
	case workflow.AdoptSetUp:
		m.say("the environment %q is set up", name)
	case workflow.CallAgent:
		m.say("having the set-up corrected, %d of %d: %s", max(1, j.Used.SetUpRepairs), j.Settings.Limits.SetUpRepairs, s.Why())
	case workflow.RunTests:
		m.say("running the tests before anything is changed")
		if s.Status == workflow.SetUpFailed {
			m.say("running the tests before anything is changed, because the set-up failed")
		}
	case workflow.PostComment:
		m.say("%s; the work goes on without it", s.Failure())
	}
}
