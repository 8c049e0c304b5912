package machine

import (
	"strings"

	"signalbox/internal/workflow"
)

func (m *machine) dependenciesChecked(e workflow.DependenciesChecked) {
	if len(e.Missing) > 0 {
		m.block(workflow.DependencyMissing, workflow.CategoryInput, workflow.DependencyMissingCode,
			"requests that must be merged first are not: "+strings.Join(e.Missing, ", "),
			workflow.NextStep{Text: "carry them out first", Verb: workflow.VerbRun, Runs: e.Missing})
		return
	}
	m.order(workflow.Action{Kind: workflow.CreateBranch})
}

// environmentCreated sets the environment up and runs the tests in it as far as no model is needed for that, before a
// planner is paid. Without a planner the set-up itself comes before anything that is paid.
func (m *machine) environmentCreated(e workflow.EnvironmentCreated) {
	j := &m.run.Details
	j.EnvID, j.EnvPath, j.Isolation, j.Fingerprint = e.EnvID, e.Path, e.Isolation, e.Fingerprint
	if j.EnvCreated.IsZero() {
		j.EnvCreated = m.now
	}
	j.EnvRemoved = false
	if b := j.Tested; b == nil || !b.Forced || b.Commit != j.BaseCommit { // else a person said that the run goes on whatever the tests say
		j.Tested = nil
	}
	note := "isolated by " + e.Isolation
	if e.Isolation == workflow.IsolationNone {
		note = "not isolated: commands run on this machine as you"
	}
	paysPlanner := len(m.run.Steps) == 0 && j.Phases[workflow.DesignCheck].Status != workflow.StepSkipped
	j.SetUp = j.ChosenSetUp(nil)
	if !paysPlanner || !j.Settings.Proves() {
		j.SetUp = nil
		m.advance(note)
		return
	}
	j.Phases[j.Phase].Note, j.SettingUp = note, true
	m.renew("")
}

// startOver carries the steps out again on today's base branch, because the
// change no longer merges with it. The plan is kept.
func (m *machine) startOver() {
	j := &m.run.Details
	for i := range m.run.Steps {
		step := &m.run.Steps[i]
		if step.Status != workflow.StepPending {
			step.Attempt++
		}
		step.Status, step.StartedAt, step.EndedAt, step.Error = workflow.StepPending, nil, nil, nil
	}
	m.run.CurrentStepIndex = 0
	j.Findings, j.Approval, j.Flags = nil, nil, nil
	for i := range j.Moves { // a person's commits are part of the change no more
		if j.Moves[i].TakenUp {
			j.Moves[i].TakenUp, j.Moves[i].Agreed = false, false
		}
	}
	if j.SetUp != nil {
		j.SetUp.BeginAgain()
	}
	m.enter(workflow.BranchCreate)
}
