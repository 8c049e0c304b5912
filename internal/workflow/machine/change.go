package machine

import (
	"cmp"
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
	"signalbox/internal/workflow/wording"
)

// changeAnswered takes what became of the actions that plan, make, test and review a change. It reports whether the event is one of theirs.
func (m *machine) changeAnswered(event workflow.Event) bool {
	r, j := &m.run, &m.run.Details
	switch e := event.(type) {
	case workflow.DesignFound:
		m.advance(wording.Count(len(e.Files), "document"))
	case workflow.PlanAnswered:
		m.planAnswered(e)
	case workflow.PlanWritten:
		if j.Plan == nil {
			return true
		}
		r.Artifacts.PlanningJSON = &e.Path
		for _, planned := range j.Plan.Actions.Steps {
			r.Steps = append(r.Steps, workflow.Step{StepID: planned.StepID, Title: planned.Title, Role: planned.Role,
				Phase: planned.Phase, Status: workflow.StepPending, Attempt: 1, Test: j.Settings.Untried()})
		}
		j.SetUp = j.ChosenSetUp(j.Plan.Environment)
		j.Plan = nil
		m.openSetUp()
	case workflow.Implemented:
		if step := m.currentStep(); step != nil {
			step.Summary = e.Summary
			step.Logs = appendNew(step.Logs, paths(e.LogPath)...)
		}
		r.Stage = workflow.StageApplying
		m.order(workflow.Action{Kind: workflow.RecordChange, StepID: m.answered.StepID, Attempt: m.answered.Attempt})
	case workflow.ChangeRecorded:
		m.changeRecorded(e)
	case workflow.ChangeRefused:
		m.refuseChange(e.Problems, e.TooLarge)
		for i := range j.Pending { // unless the agent's own limit ended the run, the implementer continues with what it made
			if a := &j.Pending[i]; e.TooLarge && a.Kind == workflow.CallAgent && a.Role == workflow.Implementer {
				a.InPlace = true
			}
		}
	case workflow.TestsEnded:
		m.testsEnded(e)
	case workflow.ReviewAnswered:
		if len(e.Review.Findings) == 0 {
			j.Findings = nil
			m.advance("passed")
			return true
		}
		findings := make([]workflow.Finding, len(e.Review.Findings))
		for i, f := range e.Review.Findings {
			f.Source = workflow.FoundByReview
			findings[i] = f
		}
		m.roundFailed(findings, &j.Used.ReviewRounds)
	case workflow.AnswerRefused:
		m.answerRefused(e)
	case workflow.AgentFailed:
		m.agentFailed(e)
	case workflow.Waited, workflow.WorkDropped:
		m.sayDoing()
	default:
		return false
	}
	return true
}

// changeRecorded checks what the agent left, which is a commit now, and has it tested or sends it back.
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
		if stop := m.run.Error; m.run.State == workflow.Failed {
			stop.Next = append(stop.Next, m.mergeByHand("or ", "resolve the conflicts there and commit"))
		}
		return
	case e.Commit == j.StepBase && !m.mayChangeNothing():
		m.nothingChanged(workflow.TestsEnded{})
		return
	case e.Commit == j.StepBase && step != nil:
		step.PatchPath = nil // an earlier attempt's change was undone
		if j.Phase == workflow.TDDRefactor {
			step.Summary = cmp.Or(step.Summary, "nothing to change")
		}
	}
	j.Head, j.Conflicts = e.Commit, nil
	j.Area = areaOf(e.Whole)
	if len(e.Whole) == 0 {
		j.Area = areaOf(e.Files)
	}
	j.Flags = appendNew(appendNew(j.Flags, verdict.Flags...), judgedBy(j, e.Files)...)
	if e.Whole != nil { // a flag goes when its cause is no longer part of the change
		j.Flags = append(policy.Inspect(e.Whole, j.Settings.Limits.MaxDiffLines).Flags, judgedBy(j, e.Whole)...)
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

// areaOf returns the top folder with the most files; of several, the first by name. It is empty for the root.
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

// mayChangeNothing reports whether an unchanged tree is a result. Code that needs no refactoring is one. So is a step whose work an earlier step
// did, if the tests say so. They can't say so if none ran, about a test that should have been written, about a fix, or about a step whose agent
// was not allowed to use a tool.
func (m *machine) mayChangeNothing() bool {
	j := &m.run.Details
	switch j.Phase {
	case workflow.TDDRefactor:
		return true
	case workflow.TDDGreen:
		tested := len(j.Settings.TestNames()) > 0 || len(j.Settings.TestsE2E) > 0 && m.mustPass()
		return j.StepBase != j.BaseCommit && tested && len(j.Denied) == 0
	}
	return false
}

// changedNothing reports whether the step in hand, of the implementation, left the tree as earlier steps had it.
func (m *machine) changedNothing() bool {
	j := &m.run.Details
	n := len(j.Moves)
	merge := n > 0 && j.Moves[n-1].Base != "" && j.Moves[n-1].Commit == j.Head // the base branch was merged into the change since
	return j.Phase == workflow.TDDGreen && j.Head == j.StepBase && !merge
}

// judgedBy returns the reasons to look at a change because it touches what judges it: a file that the run's tests, or a setup that succeeded, read.
// See policy.Judged.
func judgedBy(j *workflow.Details, files []policy.FileChange) []string {
	var setUp []string
	if s := j.SetUp; s != nil && s.Status != workflow.SetUpFailed {
		setUp = append(setUp, s.Commands...)
		for _, v := range s.Verification {
			setUp = append(setUp, v.Command)
		}
	}
	return policy.Judged(append(j.Settings.AllTestCommands(), j.Settings.Stress), setUp, files)
}
