package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/await"
	"signalbox/internal/workflow/wording"
)

// publicationAnswered takes what became of the actions between the approval and the end of a run, and of any action that could not be performed.
// It reports whether the event is one of theirs.
func (m *machine) publicationAnswered(event workflow.Event) bool {
	j := &m.run.Details
	switch e := event.(type) {
	case workflow.AgreementFound:
		if e.Content != "" {
			j.SetUp.Agreed = &workflow.Agreement{Content: e.Content, By: "a person, in an earlier run", At: m.now}
		}
		m.askApproval()
	case workflow.AgreementKept:
		note := "by " + cmp.Or(j.Approval.By, "a person") + ", and to the setup's commands"
		if e.Problem != "" {
			note += ", for this run alone: " + e.Problem
		}
		m.advance(note)
	case workflow.PullRequestOpened:
		m.offered(e)
	case workflow.ChecksEnded:
		m.checksEnded(e)
	case workflow.ChecksRerun:
		j.PullRequest.Rerun = &workflow.Rerun{Jobs: e.Jobs}
	case workflow.BaseMerged:
		m.baseMerged(e)
	case workflow.Merged:
		m.merged(e)
	case workflow.BaseMoved:
		m.enter(workflow.CIWatch)
	case workflow.HeadMoved:
		m.enter(workflow.PRCreate)
	case workflow.PullRequestClosed:
		m.remove()
	case workflow.EnvironmentRemoved:
		j.KeptRef = cmp.Or(e.KeptRef, j.KeptRef)
		j.EnvRemoved = true
		if !j.Canceling {
			m.advance("merged as " + wording.ShortID(j.MergeCommit))
			return true
		}
		m.say("canceled; its work is kept on a ref")
		if j.KeptRef == "" {
			m.say("canceled; no work was left in it to keep")
		}
		m.end(workflow.Canceled)
	case workflow.RequestClosed:
		m.close(workflow.StepDone, "")
		m.say("merged into %s as %s", j.Base, wording.ShortID(j.MergeCommit))
		m.end(workflow.Done)
	case workflow.ActionFailed:
		m.actionFailed(e)
	default:
		return false
	}
	return true
}

// offered takes that the change is on the forge: as a draft, while the run works on, or to be merged.
func (m *machine) offered(e workflow.PullRequestOpened) {
	j := &m.run.Details
	if e.Number != 0 || !m.answered.Draft {
		j.PullRequest = &workflow.PullRequest{Number: e.Number, URL: e.URL, Head: j.Head}
	}
	if e.CompareURL != "" {
		m.run.Artifacts.CompareURL = &e.CompareURL
	}
	if m.answered.Draft {
		return
	}
	for i := range j.Objections {
		j.Objections[i].Finding = workflow.Finding{}
	}
	note := ""
	if e.URL != "" { // elsewhere the number is only our own
		note = fmt.Sprintf("pull request %d: %s", e.Number, e.URL)
	}
	m.advance(note)
}

// merged records the merge. The run goes on to its end even if it was given up: there is nothing left to give up. A person is told once of what the
// forge merged untested.
func (m *machine) merged(e workflow.Merged) {
	j := &m.run.Details
	j.MergeCommit = e.Commit
	if j.Canceling || j.Phase != workflow.MergeCleanup {
		j.Canceling = false
		m.close(workflow.StepSkipped, "merged on the forge")
		m.enter(workflow.MergeCleanup)
	} else {
		m.order(workflow.Action{Kind: workflow.RemoveEnvironment})
	}
	m.say("merged as %s, removing the environment", wording.ShortID(e.Commit))
	if !e.Untested {
		return
	}
	stop := m.problem(workflow.CategoryTest, workflow.MergedUntestedCode, "the forge merged a tree that was not tested",
		fmt.Sprintf("the forge put %s on %s, and the tests did not run on its content", wording.ShortID(e.Commit), j.Base))
	stop.Next = []workflow.NextStep{workflow.Advice("test what is on " + j.Base + ", and fix or revert it there if it fails"), m.run.Ask("then let the run end", workflow.VerbResume)}
	m.stop(stop)
}

// checksEnded takes the result of the checks of the merge candidate.
func (m *machine) checksEnded(e workflow.ChecksEnded) {
	r, j := &m.run, &m.run.Details
	ran := e.State == workflow.ChecksFailed || e.State == workflow.ChecksUnsettled || e.State == workflow.ChecksPassed && e.Command != ""
	if ran {
		seen := workflow.Evidence{Purpose: "merge candidate", Commit: e.Candidate.Head, Tree: e.Candidate.Tree,
			Command: e.Command, Passed: e.State == workflow.ChecksPassed, Known: e.Known, DurationMS: e.DurationMS, LogPath: e.LogPath, At: m.now}
		if e.Check != "" { // the forge judged the commit
			seen.Purpose, seen.Tree, seen.Check = "check on the forge", "", e.Check
		}
		j.Evidence = slices.DeleteFunc(j.Evidence, func(known workflow.Evidence) bool { // of a candidate that was tested before, the forge remembers the result
			return known.Purpose == seen.Purpose && seen.Tree != "" && known.Tree == seen.Tree && known.LogPath == seen.LogPath
		})
		j.Evidence = append(j.Evidence, seen)
	}
	if m.answered.Kind == workflow.WatchChecks && !j.ApprovedHere() {
		m.approvedOnForge(e.ApprovedBy)
	}
	j.PullRequest.Awaits = nil
	switch e.State {
	case workflow.ChecksObjected:
		m.objected(e.Objections)
	case workflow.ChecksPassed:
		j.PullRequest.Checked = &e.Candidate
		if m.awaitPeople(e) {
			return
		}
		j.Used.CIFailures = 0 // not before: a check may turn red while people are waited for
		note := "no test is configured"
		switch {
		case len(e.Known) > 0:
			note = "only what failed before the change fails on " + wording.ShortID(e.Candidate.Tree)
		case ran:
			note = "passed on " + wording.ShortID(e.Candidate.Tree)
		}
		m.advance(note + m.flaky())
	case workflow.ChecksUnsettled:
		m.unsettled(workflow.TestsEnded{Summary: e.Summary, LogPath: e.LogPath, Failures: []workflow.TestFailure{{Command: e.Command, Unsettled: true}}}, false)
	case workflow.ChecksFailed:
		if e.Rerunnable && j.PullRequest.Rerun == nil { // it costs nothing, and an agent would look for a fault that may not be there
			m.order(workflow.Action{Kind: workflow.RerunChecks})
			m.waitThenAgain(rerunShows, "a check failed, and its jobs run again once: "+wording.FirstLine(e.Summary))
			return
		}
		j.Used.CIFailures++
		j.Findings = []workflow.Finding{{Source: workflow.FoundByCI, Text: "The checks fail on the merge candidate:\n" + strings.TrimSpace(e.Summary+"\n"+e.Log)}}
		if j.Used.CIFailures < j.Settings.Limits.CIFailures {
			m.enter(workflow.ReviewFix)
			return
		}
		j.Phase = workflow.ReviewFix // a resumed run continues there
		m.reopenAfter(workflow.ReviewFix)
		m.block(workflow.CIPersistentFailure, workflow.CategoryTest, workflow.CIPersistentFailureCode,
			fmt.Sprintf("the checks failed %d times in a row: %s", j.Used.CIFailures, e.Summary),
			r.Ask("look into the last check's log", workflow.VerbLogs))
	case workflow.ChecksConflict:
		m.conflicted(e)
	case workflow.ChecksPending:
		if m.awaitPeople(e) {
			return
		}
		j.PullRequest.Awaits = e.Awaits
		m.looked()
		if m.now.Sub(*j.Used.ChecksSince) >= time.Duration(j.Settings.Limits.ChecksTotalSec)*time.Second {
			m.checksSilent(e)
			return
		}
		m.waitThenAgain(max(e.Again.Sub(m.now), soonest), e.Summary)
	default:
		m.looked()
		if silent := m.now.Sub(*j.Used.ChecksSince); silent < grace {
			m.waitThenAgain(max(silent/2, soonest), e.Summary)
			return
		}
		m.checksSilent(e)
	}
}

// flaky records the jobs that failed on the head and passed there when they ran again, and returns the end of a note that names them.
func (m *machine) flaky() string {
	pr := m.run.Details.PullRequest
	if pr.Rerun == nil || len(pr.Rerun.Jobs) == 0 {
		return ""
	}
	for _, job := range pr.Rerun.Jobs {
		m.run.Details.Evidence = append(m.run.Details.Evidence,
			workflow.Evidence{Purpose: "check on the forge, second attempt", Commit: pr.Head, Check: job, Passed: true, At: m.now})
	}
	note := ", " + wording.Join(pr.Rerun.Jobs) + " at the second attempt"
	pr.Rerun = &workflow.Rerun{Jobs: []string{}} // they are recorded
	return note
}

// looked remembers when the forge was first asked about the present candidate.
func (m *machine) looked() {
	if u := &m.run.Details.Used; u.ChecksSince == nil {
		u.ChecksSince = &m.now
	}
}

// approvedOnForge takes what a look at the forge found: an approval there, or that there is none any more.
func (m *machine) approvedOnForge(by string) {
	j := &m.run.Details
	switch {
	case by != "":
		j.Approval = &workflow.Approval{Commit: j.Head, By: by, At: m.now, OnForge: true}
	case j.Approval != nil && j.Approval.OnForge:
		j.Approval = nil
	}
}

// objected takes up what people and programs on the forge object to.
func (m *machine) objected(objections []workflow.Objection) {
	j := &m.run.Details
	var findings []workflow.Finding
	for _, o := range objections {
		findings = append(findings, o.Finding)
	}
	j.Objections = append(slices.Clip(j.Objections), objections...)
	m.roundFailed(findings, &j.Used.ForgeRounds)
}

// awaitPeople queues the run, without its slot, until it looks again, if people on the forge have to act first. They may take days. It reports whether
// they have to: an approval that only the configuration wants may have come here.
func (m *machine) awaitPeople(e workflow.ChecksEnded) bool {
	j, awaits := &m.run.Details, e.Awaits
	switch {
	case awaits.People() && awaits.Required:
	case !j.AwaitsForge() || j.Approved():
		return false
	case !awaits.People():
		awaits = &await.Await{Kind: await.Approval}
	}
	j.PullRequest.Awaits = awaits
	until := m.now.Add(min(firstLook<<min(j.Used.Parks, 8), lastLook))
	if e.Again.After(until) {
		until = e.Again
	}
	j.Used.Parks++
	j.ParkedUntil = &until
	m.order(m.answered)
	m.run.State = workflow.Queued
	m.say("waiting for %s, on the forge, at %s", awaits, wording.ShortID(j.Head))
	return true
}

// The first and the longest time between two looks for what people did, if the forge names none.
const (
	firstLook = 10 * time.Second
	lastLook  = 5 * time.Minute
)

const (
	// soonest keeps the next look at a forge away from the last one.
	soonest = 5 * time.Second
	// grace is how long a forge may take to report anything about a candidate.
	grace = 2 * time.Minute
	// rerunShows is how long a forge may go on showing the failure of jobs that run again.
	rerunShows = 30 * time.Second
)

func (m *machine) checksSilent(e workflow.ChecksEnded) {
	stop := m.problem(workflow.CategoryEnvironment, workflow.ChecksSilentCode, "the forge reported no checks in time", e.Summary)
	stop.Next = []workflow.NextStep{m.run.Ask("see why they do not start, then wait again", workflow.VerbResume),
		workflow.Advice("or, if the repository has no CI, say so and resume: forge: {ci: none} in .signalbox/config.yaml")}
	m.stop(stop)
}

// conflicted has the agent resolve the conflicts on today's base branch if approval is automatic or follows on the forge, and otherwise stops: a
// person approved the change, and decides who is to change it again.
func (m *machine) conflicted(e workflow.ChecksEnded) {
	j := &m.run.Details
	if (j.Approval == nil || j.Settings.ApproveOnForge) && j.Used.BaseConflicts < j.Settings.Limits.BaseConflicts {
		j.Used.BaseConflicts++
		m.mergeBaseIn()
		m.say("the change conflicts with %s: merging %[1]s into it", j.Base)
		return
	}
	stop := m.problem(workflow.CategoryGit, workflow.MergeConflictCode, "the change does not merge with "+j.Base, e.Summary)
	stop.Next = []workflow.NextStep{m.run.Ask("let the agent resolve it", workflow.VerbSync), m.mergeByHand("or ", "resolve the conflicts there and commit")}
	m.stop(stop)
}
