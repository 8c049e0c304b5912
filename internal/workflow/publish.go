package workflow

import "fmt"

func (m *machine) pullRequestOpened(e PullRequestOpened) {
	j := &m.run.Journey
	j.PullRequest = &PullRequest{Number: e.Number, URL: e.URL, Head: j.Head}
	if e.CompareURL != "" {
		m.run.Artifacts.CompareURL = &e.CompareURL
	}
	m.advance(fmt.Sprintf("pull request %d", e.Number))
}

func (m *machine) checksEnded(e ChecksEnded) {
	r, j := &m.run, &m.run.Journey
	switch e.State {
	case ChecksPassed:
		j.Used.CIFailures = 0
		j.PullRequest.Checked = &e.Candidate
		if e.Command == "" {
			m.advance("no test is configured")
			return
		}
		m.checked(e, true)
		if len(e.Known) > 0 {
			m.advance("only what failed before the change fails on " + shortID(e.Candidate.Tree))
			return
		}
		m.advance("passed on " + shortID(e.Candidate.Tree))
	case ChecksUnsettled:
		m.checked(e, false)
		m.checksUnsettled(e)
	case ChecksFailed:
		m.checked(e, false)
		m.ciFailed(e)
	case ChecksConflict:
		m.conflicted(e)
	default:
		stop := m.problem(CategoryEnvironment, ChecksSilentCode, "the forge reported no checks in time", e.Summary)
		stop.Next = []NextStep{r.Ask("see why they do not start, then wait again", VerbResume)}
		m.stop(stop)
	}
}

func (m *machine) checked(e ChecksEnded, passed bool) {
	j := &m.run.Journey
	j.Evidence = append(j.Evidence, Evidence{Purpose: "merge candidate", Commit: e.Candidate.Head, Tree: e.Candidate.Tree,
		Command: e.Command, Passed: passed, Known: e.Known, DurationMS: e.DurationMS, LogPath: e.LogPath, At: m.now})
}

// checksUnsettled repeats checks that did not end by themselves, and asks a person the second time.
func (m *machine) checksUnsettled(e ChecksEnded) {
	ended := TestsEnded{Summary: e.Summary, LogPath: e.LogPath, Failures: []TestFailure{{Command: e.Command, Unsettled: true}}}
	m.unsettled(ended, false)
}

func (m *machine) ciFailed(e ChecksEnded) {
	j := &m.run.Journey
	j.Used.CIFailures++
	j.Findings = []Finding{{Source: FoundByCI, Text: "The checks fail on the merge candidate:\n" + e.Summary}}
	if j.Used.CIFailures >= j.Settings.Limits.CIFailures {
		j.Phase = ReviewFix
		m.reopenAfter(ReviewFix)
		m.block(CIPersistentFailure, CategoryTest, CIPersistentFailureCode,
			fmt.Sprintf("the checks failed %d times in a row: %s", j.Used.CIFailures, e.Summary),
			m.run.Ask("look into the last check's log", VerbLogs))
		return
	}
	m.enter(ReviewFix)
}

func (m *machine) conflicted(e ChecksEnded) {
	r, j := &m.run, &m.run.Journey
	if j.taken() { // carrying the steps out again would leave a person's commits out
		stop := m.problem(CategoryGit, MergeConflictCode, "the change does not merge with "+j.Base, e.Summary)
		stop.Next = []NextStep{m.letAgentResolve(), m.resolveByHand("or ")}
		m.stop(stop)
		return
	}
	if j.Used.BaseConflicts < j.Settings.Limits.BaseConflicts {
		j.Used.BaseConflicts++
		m.startOver()
		m.say("the change conflicts with %s: carrying the steps out again from there", j.Base)
		return
	}
	stop := m.problem(CategoryGit, MergeConflictCode, "the change does not merge with "+j.Base, e.Summary)
	stop.Next = []NextStep{m.letAgentResolve(), m.resolveByHand("or "), r.Ask("or carry the steps out again on today's "+j.Base, VerbResume)}
	m.stop(stop)
}

// openMerge merges, or goes on putting away after a merge that is on record.
func (m *machine) openMerge() {
	if m.run.Journey.MergeCommit != "" {
		m.order(Action{Kind: RemoveEnvironment})
		return
	}
	if pr := m.run.Journey.PullRequest; pr == nil || pr.Checked == nil {
		m.enter(CIWatch) // the interlock: nothing unchecked is ever merged
		return
	}
	m.order(Action{Kind: MergePullRequest})
}

func (m *machine) merged(e Merged) {
	m.run.Journey.MergeCommit = e.Commit
	m.say("merged as %s, putting the environment away", shortID(e.Commit))
	m.order(Action{Kind: RemoveEnvironment})
}

func (m *machine) environmentRemoved(e EnvironmentRemoved) {
	j := &m.run.Journey
	j.KeptRef = firstOf(e.KeptRef, j.KeptRef)
	j.EnvRemoved = true
	if j.Canceling {
		m.finish(Canceled)
		return
	}
	m.advance("merged as " + shortID(j.MergeCommit))
}

// finish ends the run for good.
func (m *machine) finish(state State) {
	j := &m.run.Journey
	if state == Done {
		m.close(StepDone, "")
		m.say("merged into %s as %s", j.Base, shortID(j.MergeCommit))
	} else if j.KeptRef == "" {
		m.say("canceled; no work was left in it to keep")
	} else {
		m.say("canceled; its work is kept on a ref")
	}
	m.end(state)
}
