package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
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

// currentStep is the step in hand while a tdd phase runs, else nil.
func (m *machine) currentStep() *workflow.Step {
	switch m.run.Details.Phase {
	case workflow.TDDRed, workflow.TDDGreen, workflow.TDDRefactor:
		if i := m.run.CurrentStepIndex; i < len(m.run.Steps) {
			return &m.run.Steps[i]
		}
	}
	return nil
}

// callImplementer orders work on the change in hand: a step of the plan, or a mend.
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
		doing = fmt.Sprintf("%s: %s to mend", a.StepID, wording.Count(len(j.Findings), "finding"))
	}
	if a.Attempt > 1 {
		doing += fmt.Sprintf(", attempt %d", a.Attempt)
	}
	m.say("%s", doing)
	m.run.Stage = workflow.StageImplementing
	m.call(a)
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

func (m *machine) implemented(e workflow.Implemented) {
	if step := m.currentStep(); step != nil {
		step.Summary = e.Summary
		step.Logs = appendNew(step.Logs, paths(e.LogPath)...)
	}
	m.run.Stage = workflow.StageApplying
	m.order(workflow.Action{Kind: workflow.RecordChange, StepID: m.answered.StepID, Attempt: m.answered.Attempt})
}

// areaOf is the top folder with most of the files, the first of several by name (E2).
func areaOf(files []policy.FileChange) (area string) {
	count := map[string]int{}
	for _, f := range files {
		folder, _, below := strings.Cut(f.Path, "/")
		if !below {
			folder = ""
		}
		count[folder]++
	}
	for folder, n := range count {
		if most := count[area]; n > most || n == most && folder < area {
			area = folder
		}
	}
	return area
}

func (m *machine) changeRecorded(e workflow.ChangeRecorded) {
	r, j := &m.run, &m.run.Details
	verdict := policy.Inspect(e.Files, j.Settings.Limits.MaxDiffLines)
	step := m.currentStep()
	switch {
	case len(verdict.Refused) > 0:
		m.refuseChange(verdict.Refused, verdict.TooLarge)
		return
	case m.secretsRefused(e):
		return
	case len(e.Unresolved) > 0:
		m.refuseChange([]string{"conflict markers are left in " + strings.Join(e.Unresolved, ", ")}, false)
		return
	case e.Commit == j.StepBase && !m.mayChangeNothing():
		m.nothingChanged(workflow.TestsEnded{})
		return
	case e.Commit == j.StepBase && step != nil:
		step.PatchPath = nil // what an attempt before this one changed is taken back
		if j.Phase == workflow.TDDRefactor {
			step.Summary = cmp.Or(step.Summary, "nothing to change")
		}
	}
	j.Head, j.Conflicts = e.Commit, nil
	j.Area = areaOf(e.Whole)
	if len(e.Whole) == 0 {
		j.Area = areaOf(e.Files)
	}
	j.Flags = appendNew(appendNew(j.Flags, verdict.Flags...), j.JudgedBy(e.Files)...)
	if e.Whole != nil { // a flag whose cause is gone from the change is gone with it
		j.Flags = append(policy.Inspect(e.Whole, j.Settings.Limits.MaxDiffLines).Flags, j.JudgedBy(e.Whole)...)
	}
	j.Flags = appendNew(appendNew(j.Flags, policy.Flags(e.Concerns)...), policy.Weakened(e.Tests)...)
	r.Artifacts.Patches = appendNew(r.Artifacts.Patches, paths(e.PatchPath)...)
	if step != nil {
		step.DiffStat = workflow.DiffStat{FilesChanged: verdict.Size.FilesChanged, LinesAdded: verdict.Size.LinesAdded,
			LinesDeleted: verdict.Size.LinesDeleted, TooLarge: verdict.Size.TooLarge}
		if e.PatchPath != "" {
			step.PatchPath = &e.PatchPath
		}
	}
	m.testChange(m.answered.StepID, m.answered.Attempt)
}

// testChange runs the project's tests on what was recorded.
func (m *machine) testChange(stepID string, attempt int) {
	settings := &m.run.Details.Settings
	if step := m.currentStep(); step != nil {
		step.Test = settings.Untried()
	}
	if !settings.HasUnitTests() {
		m.testWhole(stepID, attempt)
		return
	}
	if step := m.currentStep(); step != nil {
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

// testWhole runs the end-to-end tests where the change has to pass: they take long, and say nothing of half a feature.
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

func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
