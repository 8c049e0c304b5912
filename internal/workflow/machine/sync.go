package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

// goesFromBase continues a resumed run from its base branch as it is now, if the branch moved or the tests could not run there. It reports
// whether it did.
func (m *machine) goesFromBase(e workflow.Admitted) bool {
	j := &m.run.Details
	asked := j.FromBase
	j.FromBase = false
	if !asked || j.Canceling || j.MergeCommit != "" || j.BaseCommit == "" {
		return false
	}
	if e.Settings != nil {
		m.leaveOut(e.Settings)
	}
	untestable := j.Tested != nil && !j.Tested.Forced && len(j.Tested.CannotRun(j.Settings.Goals())) > 0
	changed := m.takeTests(e.Settings)
	if untestable && e.Settings != nil {
		// A person corrected the configuration because the tests cannot run. The rest of the goal stays.
		s, now := &j.Settings, e.Settings
		s.EnvironmentName, s.SetUp, s.Verification, s.NoSetUp = now.EnvironmentName, now.SetUp, now.Verification, now.NoSetUp
		s.Environments, s.Image, s.Images = now.Environments, now.Image, now.Images
		s.Limits.SetUpTotalSec = now.Limits.SetUpTotalSec
	}
	switch moved := e.Base != "" && e.Base != j.BaseCommit; {
	case !untestable && !moved && !(changed && j.NothingRecorded()):
		return false
	case untestable || j.NothingRecorded() || j.Phase < workflow.TDDRed:
		j.Pending = nil
		m.startOver()
	case j.Phase > workflow.ReviewFix:
		return false
	case j.Phase == workflow.ReviewRequest:
		m.mergeBaseIn()
	default:
		j.Pending, m.run.Stage = nil, j.Phase.Position().Stage
		m.order(workflow.Action{Kind: workflow.MergeBase})
	}
	return true
}

// takeTests replaces the run's tests by those that are configured now, and reports whether they differ. What they say of the base is not known then.
func (m *machine) takeTests(now *workflow.Settings) bool {
	j := &m.run.Details
	s := &j.Settings
	if now == nil {
		return false
	}
	sameTests := slices.Equal(s.Tests, now.Tests) && slices.Equal(s.TestsE2E, now.TestsE2E)
	switch {
	case !sameTests:
		m.say("its tests are those that are configured now")
	case s.Limits.TestTotalSec != now.Limits.TestTotalSec:
		m.say("its tests may take %s now, as limits.test_total says", time.Duration(now.Limits.TestTotalSec)*time.Second)
	default:
		return false
	}
	s.Tests, s.OfRequest, s.TestsE2E, s.Limits.TestTotalSec = now.Tests, now.OfRequest, now.TestsE2E, now.Limits.TestTotalSec
	if j.NothingRecorded() {
		j.Tested = nil
	}
	return true
}

// leaveOut removes the roles from the run that the configuration sets to none now. A person who does that and tries the run again wants it to
// do without them. A phase that waits for such a role is skipped.
func (m *machine) leaveOut(now *workflow.Settings) {
	j := &m.run.Details
	s := &j.Settings
	if now.Workflow != s.Workflow { // another workflow may give its roles to others
		return
	}
	gone := map[workflow.Role]bool{workflow.Planner: s.HasPlanner && !now.HasPlanner, workflow.Reviewer: s.HasReviewer && !now.HasReviewer}
	s.HasPlanner, s.HasReviewer, s.NoRepairer = s.HasPlanner && now.HasPlanner, s.HasReviewer && now.HasReviewer, s.NoRepairer || now.NoRepairer
	for _, row := range workflow.Positions {
		record := &j.Phases[row.Phase]
		if why := s.LeavesOut(row); why != "" && row.Phase >= j.Phase && record.Status != workflow.StepSkipped {
			record.Status, record.Note, record.EndedAt = workflow.StepSkipped, why, &m.now
		}
	}
	if len(j.Pending) > 0 && j.Pending[0].Kind == workflow.CallAgent && gone[j.Pending[0].Role] {
		m.forget(j.Pending[0].Role)
		j.Pending = nil
	}
}

// startOver repeats the steps on today's base branch. The plan is kept.
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
	for i := range j.Moves { // a person's commits are no longer part of the change
		if j.Moves[i].TakenUp {
			j.Moves[i].TakenUp, j.Moves[i].Agreed = false, false
		}
	}
	if j.SetUp != nil {
		j.SetUp.BeginAgain()
	}
	m.enter(workflow.BranchCreate)
}

// mergeBaseIn merges the base into a change whose steps are done; then it is tested, and reviewed, again. An approval of it no longer counts, but a
// rejection does: the agent answers it on the new base.
func (m *machine) mergeBaseIn() {
	r, j := &m.run, &m.run.Details
	if j.Phase == workflow.ReviewRequest {
		m.close(workflow.StepDone, "")
	}
	// Tests, reviews and checks find again what is still wrong, but nothing else repeats what a person said or finds the markers of a conflict.
	j.Findings = slices.DeleteFunc(j.Findings, func(f workflow.Finding) bool {
		return f.Source != workflow.FoundByPerson && (f.Source != workflow.FoundBySync || len(j.Conflicts) == 0)
	})
	if j.SentBack() {
		j.Findings = []workflow.Finding{j.Rejection.Finding()}
	}
	j.Pending, j.Approval, j.Phase = nil, nil, workflow.ReviewFix
	m.reopenAfter(workflow.ReviewFix)
	r.Stage = j.Phase.Position().Stage
	m.order(workflow.Action{Kind: workflow.MergeBase})
}

// baseMerged makes the merge part of the change: the agent resolves its conflicts, and everything that was proven about the change is proven
// again.
func (m *machine) baseMerged(e workflow.BaseMerged) {
	j := &m.run.Details
	if e.Commit == j.Head { // the base had nothing new
		m.enter(j.Phase)
		return
	}
	verdict := policy.Inspect(e.Whole, j.Settings.Limits.MaxDiffLines)
	if len(verdict.Refused) > 0 {
		m.order(m.answered)
		stop := m.problem(workflow.CategoryGit, workflow.BranchRefused, "the change, merged with "+j.Base+", breaks a rule", strings.Join(verdict.Refused, "; "))
		stop.Next = []workflow.NextStep{m.mergeByHand("", "take that out there and commit")}
		m.stop(stop)
		return
	}
	midway, recorded := j.Phase < workflow.ReviewRequest || len(j.Findings) > 0, j.Head != j.StepBase
	if j.SentBack() && len(e.Conflicts) == 0 {
		moved := *j.Rejection
		moved.Commit = e.Commit
		j.Rejection = &moved
	}
	j.Head, j.StepBase, j.Conflicts = e.Commit, e.Commit, e.Conflicts
	j.Flags = appendNew(append(verdict.Flags, judgedBy(j, e.Whole)...), append(policy.Flags(e.Concerns), policy.Weakened(e.Tests)...)...)
	m.noteMove(workflow.BranchMove{Commit: e.Commit, Base: e.Base, TakenUp: true, At: m.now})
	if len(e.Conflicts) > 0 {
		others := slices.DeleteFunc(slices.Clone(j.Findings), func(f workflow.Finding) bool { return f.Source == workflow.FoundBySync })
		j.Findings = append([]workflow.Finding{{Source: workflow.FoundBySync, Text: fmt.Sprintf("%s was merged into your change, and these files conflict: %s. "+
			"Resolve every conflict marker in them so that both sides keep what they mean, then check that the rest still fits.",
			j.Base, strings.Join(e.Conflicts, ", "))}}, others...)
	}
	// Midway, the step or fix in hand continues. What it recorded may pass on the new base, so its tests run before an agent is paid.
	switch step := m.currentStep(); {
	case !midway:
		m.enter(workflow.ReviewFix)
	case len(j.Conflicts) > 0 && step != nil:
		m.workAgain(j.Findings[0].Text)
		j.Findings = nil
	case !recorded || len(j.Conflicts) > 0:
		m.enter(j.Phase)
	case step != nil:
		m.testChange(step.StepID, step.Attempt)
	default:
		m.testChange(fixID(j.Fixes), max(j.FixAttempt, 1))
	}
}
