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
	j.Used.ForPhase()
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

// mustAsk is the interlock: no phase after the approval is carried out on the word of a model's set-up.
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
		m.openPlanning()
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
		m.openMerge()
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

// leave enters the phase after p. review-fix is passed by: only findings lead there.
func (m *machine) leave(p workflow.Phase) {
	next := p + 1
	if p == workflow.ReviewFix {
		next = workflow.ReviewRequest // what was mended is looked at again
		if m.run.Details.Phases[workflow.ReviewRequest].Status == workflow.StepSkipped {
			next = workflow.StressTest
		}
	} else if next == workflow.ReviewFix {
		fix := &m.run.Details.Phases[workflow.ReviewFix]
		if fix.Status == workflow.StepPending {
			fix.Status, fix.Note = workflow.StepSkipped, "nothing to mend"
		}
		next = workflow.StressTest
	}
	m.enter(next)
}

// reopenAfter makes the phases behind p pending again when the run goes back.
// What the workflow leaves out stays out.
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

// order appends an action to the pending ones. Every order has a key of its own, also one that
// repeats what failed: what was started for the failed one must not be found again.
func (m *machine) order(a workflow.Action) {
	j := &m.run.Details
	j.Orders++
	a.Key = fmt.Sprintf("%03d-%s", j.Orders, a.Kind)
	j.Pending = append(j.Pending, a)
}

// say tells people what is going on, one line.
func (m *machine) say(format string, args ...any) {
	m.run.Progress.Message = fmt.Sprintf(format, args...)
}
