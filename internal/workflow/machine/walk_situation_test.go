package machine

import (
	"slices"

	"signalbox/internal/workflow"
)

// situation is all of a run that Decide looks at. What it only copies is left
// out: times, texts, ever-growing counters.
type situation struct {
	state       workflow.State
	phase       workflow.Phase
	workflow    string
	used        [13]int
	settingUp   bool
	canceling   bool
	fix         workflow.StepStatus
	steps       [3]situationOfStep
	current     int
	pending     [3]situationOfAction
	findings    int
	flags       int
	branched    bool
	environment bool
	unchanged   bool
	begun       bool // an earlier change is recorded
	approved    bool
	sentBack    bool
	offered     bool
	checked     bool
	merged      bool
	setUpNext   int
	setUpStatus string
	warm        bool
	tooLarge    bool
	moved       [4]bool
	unagreed    bool
	agreed      bool // by the approval, to the setup
	base        workflow.BaseStatus
	forced      bool
	named       bool
	fromBase    bool
	cannotRun   bool
	paid        bool
	watched     bool // the checks of the forge were seen pending
	parked      bool
	onForge     bool // the approval was found there
	rerun       bool // jobs ran again on the head
}

type situationOfStep struct {
	status workflow.StepStatus
	phase  workflow.StepName
}

type situationOfAction struct {
	kind    workflow.ActionKind
	role    workflow.Role
	purpose workflow.TestPurpose
	onStep  bool
}

func abstract(r workflow.Run) situation {
	j := &r.Details
	s := situation{state: r.State, phase: j.Phase, workflow: j.Settings.Workflow, used: spent(&j.Used), settingUp: j.SettingUp,
		canceling: j.Canceling, fix: j.Phases[workflow.ReviewFix].Status, current: r.CurrentStepIndex, findings: len(j.Findings),
		flags: len(j.Flags), branched: j.BaseCommit != "", environment: j.EnvID != "", unchanged: j.Head == j.StepBase, begun: j.StepBase != j.BaseCommit,
		approved: j.Approval != nil && j.Approval.Commit == j.Head, sentBack: j.SentBack(), offered: j.PullRequest != nil, merged: j.MergeCommit != ""}
	s.checked = s.offered && j.PullRequest.Checked != nil && j.PullRequest.Checked.Head == j.Head
	s.rerun = s.offered && j.PullRequest.Rerun != nil
	s.moved = [4]bool{len(j.Moves) > 0, slices.ContainsFunc(j.Moves, func(b workflow.BranchMove) bool { return b.TakenUp }), j.Untested(), len(moveNotes(j, false)) > 0}
	s.tooLarge = r.Error != nil && r.Error.ReasonCode == workflow.WorkTooLarge
	if b := j.Tested; b != nil {
		s.named = len(j.FailedBefore()) > 0 && !b.Failures[0].Unnamed
		if j.Phase <= workflow.DesignCheck {
			s.base, s.forced = b.Status, b.Forced
		}
	}
	s.fromBase, s.cannotRun = j.FromBase, r.Error != nil && r.Error.ReasonCode == workflow.TestsCannotRun
	s.watched, s.parked, s.onForge = j.Used.ChecksSince != nil, j.ParkedUntil != nil, j.Approval != nil && j.Approval.OnForge
	s.paid = j.Head == j.BaseCommit && r.Counters.ImplementerCalls > 0
	for i, step := range r.Steps {
		s.steps[i] = situationOfStep{step.Status, step.Phase}
	}
	for i, a := range j.Pending {
		s.pending[i] = situationOfAction{a.Kind, a.Role, a.Purpose, a.StepID != ""}
	}
	if j.SetUp != nil {
		s.unagreed, s.agreed = j.SetUp.NeedsAgreement(), j.Approval != nil && j.Approval.SetUp == j.SetUp.Content()
		s.setUpNext, s.setUpStatus, s.warm = j.SetUp.Next, j.SetUp.Status, j.SetUp.Warm
	}
	return s
}

func spent(u *workflow.Used) [13]int {
	return [13]int{u.ForgeRounds, u.TestRetries, u.ReviewRounds, u.CIFailures, u.SetUpRepairs, u.NetworkWaits, u.ServerWaits, u.LockWaits,
		u.Autofix, u.ContractRetries, u.AgentRetries, u.ActionRetries, u.BaseConflicts}
}
