package machine

import (
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
	"signalbox/internal/workflow/wording"
)

// branchMoved takes a person's commits on top of the change into it, as soon as no agent works on an older commit. Commits that don't continue
// the change stay out of it: they are on KeptRef, and a person is asked before anything is merged without them. It returns false while the branch
// can be left where it is.
func (m *machine) branchMoved(e workflow.BranchMoved) bool {
	j := &m.run.Details
	if !m.run.UnderWay() || j.Head == "" || j.EnvRemoved || e.Commit == j.Head || e.Commit == j.BranchAt {
		return false
	}
	move := workflow.BranchMove{Commit: e.Commit, Commits: e.Commits, By: e.By, KeptRef: e.KeptRef, At: m.now}
	switch {
	case j.Phase == workflow.MergeCleanup && j.MergeCommit == "" && !j.Canceling:
		return false // the forge looks at the branch itself before it merges
	case j.Canceling || j.MergeCommit != "" || j.Phase == workflow.BranchCreate: // the branch is about to be removed, or begun again
		if e.Commits == 0 {
			return false
		}
		j.BranchAt = e.Commit
		m.noteMove(move)
	case !e.OnTop:
		j.BranchAt = e.Commit
		m.noteMove(move)
		if e.Commits == 0 || j.Phase < workflow.ApprovalWait {
			return true
		}
		// A person who approved the change may not have known of these commits, so the approval is asked for again.
		j.Approval, j.Pending = nil, nil
		if m.run.State == workflow.Queued {
			j.Phase = workflow.ApprovalWait
			m.reopenAfter(workflow.ApprovalWait)
			return true
		}
		m.enter(workflow.ApprovalWait)
	case m.beginsFromHead(), m.canTestAgain():
		m.takeUp(e, move)
	default:
		return false
	}
	return true
}

// noteMove records the move and says so. If the branch was only set back, no one has to agree.
func (m *machine) noteMove(move workflow.BranchMove) {
	move.Agreed = !move.TakenUp && move.Commits == 0
	m.run.Details.Moves = append(m.run.Details.Moves, move)
	m.say("%s", move)
}

// takeUp makes a person's commits part of the change and has them tested, or stops if they break a rule.
func (m *machine) takeUp(e workflow.BranchMoved, move workflow.BranchMove) {
	j := &m.run.Details
	verdict := policy.Inspect(e.Whole, j.Settings.Limits.MaxDiffLines)
	if len(verdict.Refused) > 0 {
		stop := m.problem(workflow.CategoryGit, workflow.BranchRefused, "commits on the branch break a rule", move.Whose()+": "+strings.Join(verdict.Refused, "; "))
		stop.Next = []workflow.NextStep{
			{Text: "take that out of the commits on " + j.Branch + ", or put the branch back", Program: []string{"git", "branch", "-f", j.Branch, wording.ShortID(j.Head)}},
			m.run.ThenResume()}
		m.stop(stop)
		return
	}
	again := !m.beginsFromHead()
	if again && j.Phase == workflow.ReviewRequest {
		m.close(workflow.StepDone, "")
	}
	move.TakenUp = true
	j.Head, j.StepBase, j.BranchAt, j.Approval = e.Commit, e.Commit, e.Commit, nil
	j.Flags = appendNew(append(verdict.Flags, judgedBy(j, e.Whole)...), append(policy.Flags(e.Concerns), policy.Weakened(e.Tests)...)...)
	m.noteMove(move)
	if !again {
		return
	}
	j.Pending, j.Findings = nil, nil
	if m.run.State == workflow.Queued {
		j.Phase = workflow.ReviewFix
		m.reopenAfter(workflow.ReviewFix)
	} else {
		m.enter(workflow.ReviewFix)
		m.say("%s; testing it", move)
	}
}

// beginsFromHead reports whether the next action makes a change on top of the head, which is then tested.
func (m *machine) beginsFromHead() bool {
	j := &m.run.Details
	if len(j.Pending) > 0 {
		a := j.Pending[0]
		return a.Kind == workflow.MergeBase || a.Kind == workflow.CallAgent && a.Role == workflow.Implementer && !a.InPlace
	}
	return j.Phase >= workflow.TDDRed && j.Phase <= workflow.TDDRefactor || j.Phase == workflow.ReviewFix && len(j.Findings) > 0
}

// canTestAgain reports whether the steps are done and the next action only judges or offers their change.
func (m *machine) canTestAgain() bool {
	j := &m.run.Details
	if j.Phase < workflow.ReviewRequest || j.Phase > workflow.CIWatch {
		return false
	}
	if len(j.Pending) == 0 {
		return true
	}
	switch a := j.Pending[0]; a.Kind {
	case workflow.CallAgent:
		return a.Role == workflow.Reviewer
	case workflow.RunTests:
		return a.Purpose == workflow.StressTests
	case workflow.OpenPullRequest, workflow.WatchChecks:
		return true
	}
	return false
}

// mergeByHand returns the steps by which a person merges the base branch into the change. The merge has a folder of its own: what the person is
// working on, and the branch that they are on, stay as they are.
func (m *machine) mergeByHand(or, fix string) workflow.NextStep {
	j := &m.run.Details
	folder := ".worktrees/merge-" + m.run.Ref()
	by := func(args ...string) workflow.NextStep {
		return workflow.NextStep{Program: append([]string{"git"}, args...)}
	}
	first := by("worktree", "add", folder, j.Branch)
	first.Text = or + "merge " + j.Base + " into the branch yourself"
	then := m.run.ThenResume()
	if m.run.State == workflow.Failed {
		then = m.run.Ask("then", workflow.VerbRetry)
	}
	return first.Following(by("-C", folder, "merge", j.Base), workflow.Advice(fix), by("worktree", "remove", folder), then)
}
