package workflow

import (
	"fmt"
)

// enter makes p the present phase and orders its first action. A phase with
// nothing to do is skipped, visibly.
func (m *machine) enter(p Phase) {
	if m.mustAsk(p) {
		p = ApprovalWait
	}
	j := &m.run.Journey
	j.Phase = p
	j.SettingUp = false
	j.Used.forPhase()
	record := &j.Phases[p]
	m.reopenAfter(p)
	if record.Status == StepSkipped && p != DesignCheck {
		m.run.Stage = p.Position().Stage
		m.leave(p)
		return
	}
	if record.Status != StepSkipped {
		record.Status, record.EndedAt, record.Note = StepRunning, nil, ""
		if record.StartedAt == nil {
			record.StartedAt = &m.now
		}
	}
	m.run.Stage = p.Position().Stage
	m.sayDoing()
	m.open(p)
}

// mustAsk is the interlock: no phase after the approval is carried out on the word of a model's set-up.
func (m *machine) mustAsk(p Phase) bool {
	j := &m.run.Journey
	return p > ApprovalWait && p <= MergeCleanup && j.MergeCommit == "" && !j.Canceling && j.SetUp.NeedsAgreement()
}

// open orders the first action of a phase.
func (m *machine) open(p Phase) {
	j := &m.run.Journey
	switch p {
	case BranchCreate:
		m.order(Action{Kind: CheckDependencies})
	case EnvCreate:
		m.order(Action{Kind: DetectEnvironment})
	case DesignRead:
		if len(m.run.Steps) > 0 {
			m.skip("the plan is kept")
			return
		}
		m.order(Action{Kind: ReadDesign})
	case DesignCheck:
		m.openPlanning()
	case TDDRed, TDDGreen, TDDRefactor:
		m.openSteps()
	case ReviewRequest:
		m.call(Action{Role: Reviewer})
	case ReviewFix:
		m.openMend()
	case StressTest:
		m.order(Action{Kind: RunTests, Purpose: StressTests, Commands: []string{j.Settings.Stress}})
	case ApprovalWait:
		m.openApproval()
	case PRCreate:
		m.order(Action{Kind: OpenPullRequest})
	case CIWatch:
		m.order(Action{Kind: WatchChecks})
	case MergeCleanup:
		m.openMerge()
	case ParentClose:
		m.order(Action{Kind: CloseRequest})
	}
}

// advance ends the present phase and enters the one after it.
func (m *machine) advance(note string) {
	m.close(StepDone, note)
	m.leave(m.run.Journey.Phase)
}

// skip ends the present phase without work, saying why, and enters the next.
func (m *machine) skip(why string) {
	m.close(StepSkipped, why)
	m.leave(m.run.Journey.Phase)
}

func (m *machine) close(status StepStatus, note string) {
	record := &m.run.Journey.Phases[m.run.Journey.Phase]
	if record.Status != StepSkipped {
		record.Status = status
	}
	if note != "" && record.Note == "" {
		record.Note = note
	}
	record.EndedAt = &m.now
}

// leave enters the phase after p. review-fix is passed by: only findings lead there.
func (m *machine) leave(p Phase) {
	next := p + 1
	if p == ReviewFix {
		next = ReviewRequest // what was mended is looked at again
		if m.run.Journey.Phases[ReviewRequest].Status == StepSkipped {
			next = StressTest
		}
	} else if next == ReviewFix {
		fix := &m.run.Journey.Phases[ReviewFix]
		if fix.Status == StepPending {
			fix.Status, fix.Note = StepSkipped, "nothing to mend"
		}
		next = StressTest
	}
	m.enter(next)
}

// reopenAfter makes the phases behind p pending again when the run goes back.
// What the workflow leaves out stays out.
func (m *machine) reopenAfter(p Phase) {
	j := &m.run.Journey
	if p == ReviewFix && j.Phases[p].Status == StepSkipped {
		j.Phases[p].Status = StepPending
	}
	for i := range j.Phases {
		record := &j.Phases[i]
		if record.Phase <= p || record.Status == StepPending || record.Phase == ReviewFix && p == ReviewRequest {
			continue
		}
		if j.Settings.leavesOut(record.Phase.Position()) == "" {
			*record = PhaseRecord{Phase: record.Phase, Step: record.Step, Status: StepPending, Unknown: record.Unknown}
		}
	}
}

// order appends an action to the pending ones. Every order has a key of its own, also one that
// repeats what failed: what was started for the failed one must not be found again.
func (m *machine) order(a Action) {
	j := &m.run.Journey
	j.Orders++
	a.Key = fmt.Sprintf("%03d-%s", j.Orders, a.Kind)
	j.Pending = append(j.Pending, a)
}

// say tells people what is going on, one line.
func (m *machine) say(format string, args ...any) {
	m.run.Progress.Message = fmt.Sprintf(format, args...)
}
