package machine

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// nextStep begins the first step of the present phase that is not done.
func (m *machine) nextStep() {
	r, j := &m.run, &m.run.Details
	for i := range r.Steps {
		step := &r.Steps[i]
		if step.Phase != j.Phase.Step() || step.Status == workflow.StepDone || step.Status == workflow.StepSkipped {
			continue
		}
		r.CurrentStepIndex = i
		if step.Status == workflow.StepPending {
			step.StartedAt = &m.now
			j.StepBase, j.Failure = j.Head, ""
			j.Used.Autofix, j.Used.AgentRetries = 0, 0
		}
		step.Status = workflow.StepRunning
		m.callImplementer(j.Failure)
		return
	}
	m.advance("")
}

// currentStep returns the step in hand during a tdd phase, otherwise nil.
func (m *machine) currentStep() *workflow.Step {
	switch m.run.Details.Phase {
	case workflow.TDDRed, workflow.TDDGreen, workflow.TDDRefactor:
		if i := m.run.CurrentStepIndex; i < len(m.run.Steps) {
			return &m.run.Steps[i]
		}
	}
	return nil
}

// callImplementer orders work on the change in hand: a step of the plan, or a fix.
func (m *machine) callImplementer(reason string) {
	j := &m.run.Details
	a := workflow.Action{Role: workflow.Implementer, Reason: reason}
	var doing string
	if step := m.currentStep(); step != nil {
		a.StepID, a.Attempt = step.StepID, step.Attempt
		doing = fmt.Sprintf("%s %s: %s", a.StepID, step.Title, j.Phase.Position().Doing)
	} else {
		j.FixAttempt++
		a.StepID, a.Attempt = fixID(j.Fixes), j.FixAttempt
		doing = a.StepID + ": " + toFix(j.Findings)
	}
	if a.Attempt > 1 {
		doing += fmt.Sprintf(", attempt %d", a.Attempt)
	}
	m.say("%s", doing)
	m.run.Stage = workflow.StageImplementing
	m.call(a)
}

// toFix says what a fix is about.
func toFix(findings []workflow.Finding) string {
	var all []string
	others := 0
	for _, f := range findings {
		switch f.Source {
		case workflow.FoundByPerson:
			all = append(all, "a person's rejection to answer")
		case workflow.FoundBySync:
			all = append(all, "conflicts to resolve")
		default:
			others++
		}
	}
	if others > 0 || len(all) == 0 {
		all = append(all, wording.Count(others, "finding")+" to fix")
	}
	return strings.Join(all, ", ")
}

func fixID(n int) string { return fmt.Sprintf("R%02d", n) }

// workAgain sends the change in hand back to the implementer with the reason.
func (m *machine) workAgain(reason string) {
	m.run.Details.Failure = reason
	if step := m.currentStep(); step != nil {
		step.Attempt++
	}
	m.callImplementer(reason)
}

// testChange runs the project's tests on what was recorded.
func (m *machine) testChange(stepID string, attempt int) {
	settings, step := &m.run.Details.Settings, m.currentStep()
	if step != nil {
		step.Test = settings.Untried()
	}
	if !settings.HasUnitTests() {
		m.testWhole(stepID, attempt)
		return
	}
	if step != nil {
		command := strings.Join(settings.TestNames(), " && ")
		step.Test.Unit = workflow.TestResult{Status: workflow.TestRunning, Command: &command}
	}
	m.run.Stage = workflow.StageTesting
	m.say("%s: running the tests", stepID)
	if m.changedNothing() {
		m.say("%s: no file changed; the tests say whether anything was left to do", stepID)
	}
	m.order(workflow.Action{Kind: workflow.RunTests, Purpose: workflow.UnitTests, StepID: stepID, Attempt: attempt, Commands: settings.TestCommands()})
}

// testWhole runs the end-to-end tests if the change has to pass. They take long, and say nothing about half a feature.
func (m *machine) testWhole(stepID string, attempt int) {
	lines, step := m.run.Details.Settings.TestsE2E, m.currentStep()
	if len(lines) == 0 || !m.mustPass() {
		if step != nil {
			step.Test.E2E.Status = workflow.TestSkipped
		}
		m.finishChange()
		return
	}
	if step != nil {
		command := strings.Join(lines, " && ")
		step.Test.E2E = workflow.TestResult{Status: workflow.TestRunning, Command: &command}
	}
	m.run.Stage = workflow.StageTesting
	m.say("%s: running the end-to-end tests", stepID)
	m.order(workflow.Action{Kind: workflow.RunTests, Purpose: workflow.E2ETests, StepID: stepID, Attempt: attempt, Commands: lines})
}

// finishChange ends the change in hand: a step of the plan, or a fix.
func (m *machine) finishChange() {
	j := &m.run.Details
	j.Used.Autofix, j.Used.AgentRetries = 0, 0
	step := m.currentStep()
	if step == nil {
		j.Findings = nil
		m.offerDraft()
		m.advance("")
		return
	}
	step.Status, step.EndedAt = workflow.StepDone, &m.now
	m.offerDraft()
	m.nextStep()
}

// offerDraft has people see on the forge what is done so far. Nothing is pushed that a person is to be asked about first.
func (m *machine) offerDraft() {
	j := &m.run.Details
	free := (j.Settings.AutoApprove || j.Settings.ApproveOnForge) && len(j.Flags) == 0 && len(moveNotes(j, false)) == 0 && j.Rejection == nil && !j.SetUp.NeedsAgreement()
	if j.Settings.Drafts && free && j.Head != j.BaseCommit && (j.PullRequest == nil || j.PullRequest.Head != j.Head) {
		m.order(workflow.Action{Kind: workflow.OpenPullRequest, Draft: true})
	}
}

// appendNew appends the strings that the list lacks.
func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// paths returns a list of the path; of none if it is empty.
func paths(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
