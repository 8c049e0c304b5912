package workflow

import (
	"slices"
	"strings"
	"time"
)

// BranchMove is one time that the run's branch was found where Signalbox had not put it.
type BranchMove struct {
	// Commit is where it was found; empty means that it had been deleted.
	Commit string `json:"commit"`
	// Commits is how many commits it had that the change lacked, By their authors.
	Commits int `json:"commits"`
	// Base is the base branch's commit that Signalbox merged into the change; empty where a person moved the branch.
	Base string   `json:"base,omitempty"`
	By   []string `json:"by,omitempty"`
	// TakenUp: the commits are part of the change. Otherwise they take no part, and KeptRef holds them.
	TakenUp bool   `json:"taken_up"`
	KeptRef string `json:"kept_ref,omitempty"`
	// Agreed: a person approved the change since.
	Agreed  bool      `json:"agreed"`
	At      time.Time `json:"at"`
	Unknown Unknown   `json:",embed"`
}

// String is what happened, as half a sentence: "2 commits by Ada on the branch were taken up".
func (b BranchMove) String() string {
	who := countNote(b.Commits, "commit")
	if len(b.By) > 0 {
		who += " by " + joinWords(b.By)
	}
	were := " were"
	if b.Commits == 1 {
		were = " was"
	}
	switch {
	case b.Base != "":
		return "the base branch at " + shortID(b.Base) + " was merged into the change"
	case b.TakenUp:
		return who + " on the branch" + were + " taken up"
	case b.Commit == "":
		return "the branch was deleted and made again"
	case b.Commits == 0:
		return "the branch was set back to " + shortID(b.Commit) + " and then moved on again"
	}
	return who + " on the branch" + were + " set aside (git log " + b.KeptRef + ")"
}

// branchMoved takes up what a person committed on top of the change, as soon as no agent's work is in
// hand that was not begun from it. Commits that do not continue the change are set aside: they are on
// KeptRef, and a person is asked before anything is merged without them. It reports false while the
// branch can be left where it is.
func (m *machine) branchMoved(e BranchMoved) bool {
	j := &m.run.Journey
	if !m.run.UnderWay() || j.Head == "" || j.EnvRemoved || e.Commit == j.Head || e.Commit == j.BranchAt {
		return false
	}
	move := BranchMove{Commit: e.Commit, Commits: e.Commits, By: e.By, KeptRef: e.KeptRef, At: m.now}
	switch {
	case m.mergeInHand():
		return false // the forge looks at the branch itself before it merges
	case m.leavesBranch():
		if e.Commits == 0 {
			return false
		}
		j.BranchAt = e.Commit
		m.noteMove(move)
	case !e.OnTop:
		j.BranchAt = e.Commit
		m.noteMove(move)
		m.askAgain(move)
	case m.beginsFromHead(), m.canTestAgain():
		m.takeUp(e, move)
	default:
		return false
	}
	return true
}

// noteMove keeps the move and says so. What was only put back needs nobody's consent.
func (m *machine) noteMove(move BranchMove) {
	move.Agreed = !move.TakenUp && move.Commits == 0
	m.run.Journey.Moves = append(m.run.Journey.Moves, move)
	m.say("%s", move)
}

func (m *machine) takeUp(e BranchMoved, move BranchMove) {
	j := &m.run.Journey
	verdict := Inspect(e.Whole, j.Settings.Limits)
	if len(verdict.Refused) > 0 {
		stop := m.problem(CategoryGit, BranchRefused, "commits on the branch break a rule", move.whose()+": "+strings.Join(verdict.Refused, "; "))
		stop.Next = []NextStep{
			{Text: "take that out of the commits on " + j.Branch + ", or put the branch back", Program: []string{"git", "branch", "-f", j.Branch, shortID(j.Head)}},
			m.run.ThenResume()}
		m.stop(stop)
		return
	}
	again := !m.beginsFromHead()
	if again && j.Phase == ReviewRequest {
		m.close(StepDone, "")
	}
	move.TakenUp = true
	j.Head, j.StepBase, j.BranchAt, j.Approval = e.Commit, e.Commit, e.Commit, nil
	j.Flags = appendNew(append(verdict.Flags, j.judgedBy(e.Whole)...), append(flagsOf(e.Concerns), weakened(e.Tests)...)...)
	m.noteMove(move)
	if !again {
		return
	}
	j.Pending, j.Findings = nil, nil
	if m.run.State == Queued {
		j.Phase = ReviewFix
		m.reopenAfter(ReviewFix)
	} else {
		m.enter(ReviewFix)
		m.say("%s; testing it", move)
	}
}

func (b BranchMove) whose() string {
	if len(b.By) == 0 {
		return countNote(b.Commits, "commit")
	}
	return countNote(b.Commits, "commit") + " by " + joinWords(b.By)
}

// beginsFromHead: what comes next is a change that is made, and tested, on top of the head.
func (m *machine) beginsFromHead() bool {
	j := &m.run.Journey
	if len(j.Pending) > 0 {
		a := j.Pending[0]
		return a.Kind == MergeBase || a.Kind == CallAgent && a.Role == Implementer && !a.InPlace
	}
	return j.Phase >= TDDRed && j.Phase <= TDDRefactor || j.Phase == ReviewFix && len(j.Findings) > 0
}

// canTestAgain: the steps are done, and what comes next only judges or offers their change.
func (m *machine) canTestAgain() bool {
	j := &m.run.Journey
	if j.Phase < ReviewRequest || j.Phase > CIWatch {
		return false
	}
	if len(j.Pending) == 0 {
		return true
	}
	switch a := j.Pending[0]; a.Kind {
	case CallAgent:
		return a.Role == Reviewer
	case RunTests:
		return a.Purpose == StressTests
	case OpenPullRequest, WatchChecks:
		return true
	}
	return false
}

// leavesBranch: the branch is about to be removed, or begun anew.
func (m *machine) leavesBranch() bool {
	j := &m.run.Journey
	return j.Canceling || j.MergeCommit != "" || j.Phase == BranchCreate
}

func (m *machine) mergeInHand() bool {
	j := &m.run.Journey
	return j.Phase == MergeCleanup && j.MergeCommit == "" && !j.Canceling
}

// askAgain: a change that was agreed to with other commits beside it may not be what the person meant.
func (m *machine) askAgain(move BranchMove) {
	j := &m.run.Journey
	if move.Commits == 0 || j.Phase < ApprovalWait {
		return
	}
	j.Approval, j.Pending = nil, nil
	if m.run.State == Queued {
		j.Phase = ApprovalWait
		m.reopenAfter(ApprovalWait)
		return
	}
	m.enter(ApprovalWait)
}

// taken reports whether a person's commits are part of the change.
func (j *Journey) taken() bool {
	return slices.ContainsFunc(j.Moves, func(b BranchMove) bool { return b.TakenUp })
}

// headIsMerge: the head is the base branch, merged into the change.
func (j *Journey) headIsMerge() bool {
	n := len(j.Moves)
	return n > 0 && j.Moves[n-1].Base != "" && j.Moves[n-1].Commit == j.Head
}

// untested: the head is a person's commit, and the tests did not pass on it yet.
func (j *Journey) untested() bool {
	if n := len(j.Moves); n == 0 || !j.Moves[n-1].TakenUp || j.Moves[n-1].Commit != j.Head {
		return false
	}
	last := UnitTests
	if len(j.Settings.TestsE2E) > 0 {
		last = E2ETests
	}
	return !slices.ContainsFunc(j.Evidence, func(e Evidence) bool { return e.Commit == j.Head && e.Passed && e.Purpose == string(last) })
}

// moves are the sentences that an approval is asked with. Commits that were set aside ask for a person
// even where approval is automatic.
func (j *Journey) moves(takenUp bool) (said []string) {
	for _, b := range j.Moves {
		if !b.Agreed && b.TakenUp == takenUp {
			said = append(said, b.String())
		}
	}
	return said
}

// dropTaken: the steps are carried out again from the base, so a person's commits are part of the change no more.
func (j *Journey) dropTaken() {
	j.Moves = slices.Clone(j.Moves)
	for i := range j.Moves {
		if j.Moves[i].TakenUp {
			j.Moves[i].TakenUp, j.Moves[i].Agreed = false, false
		}
	}
}

func (j *Journey) agreeToMoves() {
	j.Moves = slices.Clone(j.Moves)
	for i := range j.Moves {
		j.Moves[i].Agreed = true
	}
}

// resolveByHand says how a person settles a conflict without losing their own commits.
func (m *machine) resolveByHand(or string) NextStep {
	j := &m.run.Journey
	by := func(args ...string) NextStep { return NextStep{Program: append([]string{"git"}, args...)} }
	first := by("switch", j.Branch)
	first.Text = or + "merge " + j.Base + " into the branch yourself"
	return first.Following(by("merge", j.Base), by("switch", "-"), m.run.ThenResume())
}
