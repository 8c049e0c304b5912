package machine

import (
	"cmp"
	"fmt"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

func (m *machine) pullRequestOpened(e workflow.PullRequestOpened) {
	j := &m.run.Details
	j.PullRequest = &workflow.PullRequest{Number: e.Number, URL: e.URL, Head: j.Head}
	if e.CompareURL != "" {
		m.run.Artifacts.CompareURL = &e.CompareURL
	}
	m.advance(fmt.Sprintf("pull request %d", e.Number))
}

func (m *machine) checksEnded(e workflow.ChecksEnded) {
	r, j := &m.run, &m.run.Details
	switch e.State {
	case workflow.ChecksPassed:
		j.Used.CIFailures = 0
		j.PullRequest.Checked = &e.Candidate
		if e.Command == "" {
			m.advance("no test is configured")
			return
		}
		m.checked(e, true)
		if len(e.Known) > 0 {
			m.advance("only what failed before the change fails on " + wording.ShortID(e.Candidate.Tree))
			return
		}
		m.advance("passed on " + wording.ShortID(e.Candidate.Tree))
	case workflow.ChecksUnsettled:
		m.checked(e, false)
		m.unsettled(workflow.TestsEnded{Summary: e.Summary, LogPath: e.LogPath, Failures: []workflow.TestFailure{{Command: e.Command, Unsettled: true}}}, false)
	case workflow.ChecksFailed:
		m.checked(e, false)
		m.ciFailed(e)
	case workflow.ChecksConflict:
		m.conflicted(e)
	default:
		stop := m.problem(workflow.CategoryEnvironment, workflow.ChecksSilentCode, "the forge reported no checks in time", e.Summary)
		stop.Next = []workflow.NextStep{r.Ask("see why they do not start, then wait again", workflow.VerbResume)}
		m.stop(stop)
	}
}

func (m *machine) checked(e workflow.ChecksEnded, passed bool) {
	j := &m.run.Details
	j.Evidence = append(j.Evidence, workflow.Evidence{Purpose: "merge candidate", Commit: e.Candidate.Head, Tree: e.Candidate.Tree,
		Command: e.Command, Passed: passed, Known: e.Known, DurationMS: e.DurationMS, LogPath: e.LogPath, At: m.now})
}

func (m *machine) ciFailed(e workflow.ChecksEnded) {
	j := &m.run.Details
	j.Used.CIFailures++
	j.Findings = []workflow.Finding{{Source: workflow.FoundByCI, Text: "The checks fail on the merge candidate:\n" + e.Summary}}
	if j.Used.CIFailures >= j.Settings.Limits.CIFailures {
		j.Phase = workflow.ReviewFix
		m.reopenAfter(workflow.ReviewFix)
		m.block(workflow.CIPersistentFailure, workflow.CategoryTest, workflow.CIPersistentFailureCode,
			fmt.Sprintf("the checks failed %d times in a row: %s", j.Used.CIFailures, e.Summary),
			m.run.Ask("look into the last check's log", workflow.VerbLogs))
		return
	}
	m.enter(workflow.ReviewFix)
}

func (m *machine) conflicted(e workflow.ChecksEnded) {
	r, j := &m.run, &m.run.Details
	taken := j.Taken() // carrying the steps out again would leave a person's commits out
	if !taken && j.Used.BaseConflicts < j.Settings.Limits.BaseConflicts {
		j.Used.BaseConflicts++
		m.startOver()
		m.say("the change conflicts with %s: carrying the steps out again from there", j.Base)
		return
	}
	stop := m.problem(workflow.CategoryGit, workflow.MergeConflictCode, "the change does not merge with "+j.Base, e.Summary)
	stop.Next = []workflow.NextStep{r.Ask("let the agent resolve it", workflow.VerbSync), m.resolveByHand("or ")}
	if !taken {
		stop.Next = append(stop.Next, r.Ask("or carry the steps out again on today's "+j.Base, workflow.VerbResume))
	}
	m.stop(stop)
}

// openMerge merges, or goes on putting away after a merge that is on record.
func (m *machine) openMerge() {
	if m.run.Details.MergeCommit != "" {
		m.order(workflow.Action{Kind: workflow.RemoveEnvironment})
		return
	}
	if pr := m.run.Details.PullRequest; pr == nil || pr.Checked == nil {
		m.enter(workflow.CIWatch) // the interlock: nothing unchecked is ever merged
		return
	}
	m.order(workflow.Action{Kind: workflow.MergePullRequest})
}

func (m *machine) environmentRemoved(e workflow.EnvironmentRemoved) {
	j := &m.run.Details
	j.KeptRef = cmp.Or(e.KeptRef, j.KeptRef)
	j.EnvRemoved = true
	if j.Canceling {
		m.finish(workflow.Canceled)
		return
	}
	m.advance("merged as " + wording.ShortID(j.MergeCommit))
}

// finish ends the run for good.
func (m *machine) finish(state workflow.State) {
	j := &m.run.Details
	if state == workflow.Done {
		m.close(workflow.StepDone, "")
		m.say("merged into %s as %s", j.Base, wording.ShortID(j.MergeCommit))
	} else if j.KeptRef == "" {
		m.say("canceled; no work was left in it to keep")
	} else {
		m.say("canceled; its work is kept on a ref")
	}
	m.end(state)
}
