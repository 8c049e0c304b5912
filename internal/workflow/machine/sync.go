package machine

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

// syncOrdered has the base branch of now merged into the change. Whatever was agreed to is void.
func (m *machine) syncOrdered() bool {
	r, j := &m.run, &m.run.Details
	r.Signals.Commands = without(r.Signals.Commands, workflow.CommandSync)
	if !r.MaySync() {
		return true
	}
	m.queueAgain("to be brought up to date with " + j.Base)
	m.mergeBaseIn()
	return true
}

// mergeBaseIn has the base merged into a change whose steps are done; then it is tested, and reviewed, again.
func (m *machine) mergeBaseIn() {
	r, j := &m.run, &m.run.Details
	if j.Phase == workflow.ReviewRequest {
		m.close(workflow.StepDone, "")
	}
	j.Pending, j.Findings, j.Approval, j.Phase = nil, nil, nil, workflow.ReviewFix
	m.reopenAfter(workflow.ReviewFix)
	r.Stage = j.Phase.Position().Stage
	m.order(workflow.Action{Kind: workflow.MergeBase})
}

// baseMerged goes on with the merge as part of the change: the agent resolves its conflicts, and everything that was
// proven of the change before is proven again.
func (m *machine) baseMerged(e workflow.BaseMerged) {
	j := &m.run.Details
	if e.Commit == j.Head {
		m.enter(j.Phase)
		return
	}
	verdict := policy.Inspect(e.Whole, j.Settings.Limits.MaxDiffLines)
	if len(verdict.Refused) > 0 {
		m.order(m.answered)
		stop := m.problem(workflow.CategoryGit, workflow.BranchRefused, "the change, merged with "+j.Base+", breaks a rule", strings.Join(verdict.Refused, "; "))
		stop.Next = []workflow.NextStep{m.resolveByHand("")}
		m.stop(stop)
		return
	}
	midway, recorded := j.Phase < workflow.ReviewRequest || len(j.Findings) > 0, j.Head != j.StepBase
	j.Head, j.StepBase, j.Conflicts = e.Commit, e.Commit, e.Conflicts
	j.Flags = appendNew(append(verdict.Flags, j.JudgedBy(e.Whole)...), append(policy.Flags(e.Concerns), policy.Weakened(e.Tests)...)...)
	m.noteMove(workflow.BranchMove{Commit: e.Commit, Base: e.Base, TakenUp: true, At: m.now})
	if len(e.Conflicts) > 0 {
		others := slices.DeleteFunc(slices.Clone(j.Findings), func(f workflow.Finding) bool { return f.Source == workflow.FoundBySync })
		j.Findings = append([]workflow.Finding{{Source: workflow.FoundBySync, Text: fmt.Sprintf("%s was merged into your change, and these files conflict: %s. "+
			"Resolve every conflict marker in them so that both sides keep what they mean, then check that the rest still fits.",
			j.Base, strings.Join(e.Conflicts, ", "))}}, others...)
	}
	if midway {
		m.mergedMidway(recorded)
		return
	}
	m.enter(workflow.ReviewFix)
}
