package machine

import (
	"fmt"
	"slices"

	"signalbox/internal/workflow"
)

// enter makes p the present phase and orders its first action. A phase with
// nothing to do is skipped, visibly.
func (m *machine) enter(p workflow.Phase) {
	if m.mustAsk(p) {
		p = workflow.ApprovalWait
	}
	j := &m.run.Details
	j.Phase = p
	j.SettingUp = false
	if p >= workflow.ApprovalWait {
		j.Pending = slices.DeleteFunc(j.Pending, func(a workflow.Action) bool { return a.Draft })
	}
	// The budgets of a phase start again.
	u := &j.Used
	u.Autofix, u.ContractRetries, u.AgentRetries, u.ActionRetries, u.TestRetries = 0, 0, 0, 0, 0
	u.SetUpRepairs, u.NetworkWaits, u.ServerWaits, u.LockWaits = 0, 0, 0, 0
	u.ModelWaits, u.Parks, u.ChecksSince = 0, 0, nil
	record := &j.Phases[p]
	m.reopenAfter(p)
	if record.Status == workflow.StepSkipped && p != workflow.DesignCheck {
		m.run.Stage = p.Position().Stage
		m.leave(p)
		return
	}
	if record.Status != workflow.StepSkipped {
		record.Status, record.EndedAt, record.Note = workflow.StepRunning, nil, ""
		if record.StartedAt == nil {
			record.StartedAt = &m.now
		}
	}
	m.run.Stage = p.Position().Stage
	m.sayDoing()
	m.open(p)
}

// mustAsk is the interlock: no phase after the approval may rely on a model's setup that no person agreed to.
func (m *machine) mustAsk(p workflow.Phase) bool {
	j := &m.run.Details
	return p > workflow.ApprovalWait && p <= workflow.MergeCleanup && j.MergeCommit == "" && !j.Canceling && j.SetUp.NeedsAgreement()
}

// open orders the first action of a phase.
func (m *machine) open(p workflow.Phase) {
	j := &m.run.Details
	switch p {
	case workflow.BranchCreate:
		m.order(workflow.Action{Kind: workflow.CheckDependencies})
	case workflow.EnvCreate:
		m.order(workflow.Action{Kind: workflow.DetectEnvironment})
	case workflow.DesignRead:
		if len(m.run.Steps) > 0 {
			m.skip("the plan is kept")
			return
		}
		m.order(workflow.Action{Kind: workflow.ReadDesign})
	case workflow.DesignCheck:
		switch {
		case len(m.run.Steps) > 0:
			m.openSetUp()
		case j.Phases[p].Status == workflow.StepSkipped: // a workflow without a planner has a plan of one step
			m.accept(workflow.Plan{Goal: m.run.Title, Actions: workflow.ActionPlan{Steps: []workflow.PlannedStep{{
				StepID: "S01", Title: m.run.Title, Role: workflow.Implementer, Phase: workflow.TDDGreen.Step(),
				Instructions: "Carry out the request."}}}})
		default:
			m.call(workflow.Action{Role: workflow.Planner})
		}
	case workflow.TDDRed, workflow.TDDGreen, workflow.TDDRefactor:
		if !slices.ContainsFunc(m.run.Steps, func(s workflow.Step) bool { return s.Phase == p.Step() }) {
			m.skip("the plan has no step here")
			return
		}
		m.nextStep()
	case workflow.ReviewRequest:
		m.call(workflow.Action{Role: workflow.Reviewer})
	case workflow.ReviewFix:
		m.openFix()
	case workflow.StressTest:
		m.order(workflow.Action{Kind: workflow.RunTests, Purpose: workflow.StressTests, Commands: []string{j.Settings.Stress}})
	case workflow.ApprovalWait:
		m.openApproval()
	case workflow.PRCreate:
		m.order(workflow.Action{Kind: workflow.OpenPullRequest})
	case workflow.CIWatch:
		m.order(workflow.Action{Kind: workflow.WatchChecks})
	case workflow.MergeCleanup:
		switch {
		case j.MergeCommit != "": // the merge is on record; what is left is to remove the environment
			m.order(workflow.Action{Kind: workflow.RemoveEnvironment})
		case j.PullRequest == nil || j.PullRequest.Checked == nil || j.AwaitsForge() && !j.Approved():
			m.enter(workflow.CIWatch) // the interlock: nothing unchecked is ever merged
		default:
			m.order(workflow.Action{Kind: workflow.MergePullRequest})
		}
	case workflow.ParentClose:
		m.order(workflow.Action{Kind: workflow.CloseRequest})
	}
}

// advance ends the present phase and enters the one after it.
func (m *machine) advance(note string) {
	m.close(workflow.StepDone, note)
	m.leave(m.run.Details.Phase)
}

// skip ends the present phase without work, saying why, and enters the next.
func (m *machine) skip(why string) {
	m.close(workflow.StepSkipped, why)
	m.leave(m.run.Details.Phase)
}

// close ends the record of the present phase. A skipped phase stays skipped, and a first note stays.
func (m *machine) close(status workflow.StepStatus, note string) {
	record := &m.run.Details.Phases[m.run.Details.Phase]
	if record.Status != workflow.StepSkipped {
		record.Status = status
	}
	if note != "" && record.Note == "" {
		record.Note = note
	}
	record.EndedAt = &m.now
}

// leave enters the phase after p. It passes review-fix by: only findings lead there.
func (m *machine) leave(p workflow.Phase) {
	next := p + 1
	if p == workflow.ReviewFix {
		next = workflow.ReviewRequest // a fix is reviewed again
		if m.run.Details.Phases[workflow.ReviewRequest].Status == workflow.StepSkipped {
			next = workflow.StressTest
		}
	} else if next == workflow.ReviewFix {
		fix := &m.run.Details.Phases[workflow.ReviewFix]
		if fix.Status == workflow.StepPending {
			fix.Status, fix.Note = workflow.StepSkipped, "nothing to fix"
		}
		next = workflow.StressTest
	}
	m.enter(next)
}

// reopenAfter makes the phases behind p pending again when the run goes back. Phases that the workflow leaves out stay
// skipped.
func (m *machine) reopenAfter(p workflow.Phase) {
	j := &m.run.Details
	if p == workflow.ReviewFix && j.Phases[p].Status == workflow.StepSkipped {
		j.Phases[p].Status = workflow.StepPending
	}
	for i := range j.Phases {
		record := &j.Phases[i]
		if record.Phase <= p || record.Status == workflow.StepPending || record.Phase == workflow.ReviewFix && p == workflow.ReviewRequest {
			continue
		}
		if j.Settings.LeavesOut(record.Phase.Position()) == "" {
			*record = workflow.PhaseRecord{Phase: record.Phase, Step: record.Step, Status: workflow.StepPending, Unknown: record.Unknown}
		}
	}
}

// order appends an action to the pending ones. Every order has a key of its own, even one that repeats a failed action:
// whatever the failed one started must not be found again.
func (m *machine) order(a workflow.Action) {
	j := &m.run.Details
	j.Orders++
	a.Key = fmt.Sprintf("%03d-%s", j.Orders, a.Kind)
	j.Pending = append(j.Pending, a)
}

// say sets the line that tells people what is going on.
func (m *machine) say(format string, args ...any) {
	m.run.Progress.Message = fmt.Sprintf(format, args...)
}
