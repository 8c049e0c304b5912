package registry

import (
	"cmp"

	"signalbox/internal/workflow"
)

// EntryOf returns the run's entry in environments.json. ok is false if the run has none: before its
// environment is made, and after it was canceled. A run that is blocked before it has an environment is
// listed too, under the id that the environment will have, because the file shows everything that waits for
// a person.
//
// The status follows from the run: merged once the merge commit is recorded, abandoned while it is being
// canceled, blocked while a person must act, pr_created with a pull request, otherwise active. Keys of other
// programs, and an area that one of them set, are the caller's to keep.
func EntryOf(r *workflow.Run) (entry Environment, ok bool) {
	j := &r.Details
	if j.EnvID == "" && j.Blocked == nil || r.State == workflow.Canceled {
		return Environment{}, false
	}
	id, created := j.EnvID, j.EnvCreated
	if id == "" {
		id, created = r.EnvironmentID(), j.Blocked.BlockedAt
	}
	entry = Environment{EnvID: id, Area: cmp.Or(j.Settings.Area, j.Area), Branch: j.Branch, IssueNumber: j.Number, Title: r.Title,
		Status: EnvironmentActive, Phase: j.Phase, Step: j.Phase.Step(), Blocked: j.Blocked,
		CreatedAt: created, LastUsedAt: r.UpdatedAt}
	if j.PullRequest != nil {
		n := j.PullRequest.Number
		entry.PRNumber = &n
	}
	switch {
	case j.MergeCommit != "":
		entry.Status = EnvironmentMerged
	case j.Canceling:
		entry.Status = EnvironmentAbandoned
	case j.Blocked != nil:
		entry.Status = EnvironmentBlocked
	case j.PullRequest != nil:
		entry.Status = EnvironmentPRCreated
	}
	for _, f := range j.Findings {
		line := []rune(f.Line1())
		if len(line) > maxFinding {
			line = append(line[:maxFinding-1], '…')
		}
		entry.PendingIssues = append(entry.PendingIssues, string(line))
	}
	if entry.Status == EnvironmentMerged {
		entry.Phase, entry.Step = max(workflow.MergeCleanup, j.Phase), max(workflow.MergeCleanup, j.Phase).Step()
	}
	return entry, true
}

// maxFinding is how many characters of a finding the list of environments shows: it can hold the logs of CI jobs.
const maxFinding = 4000

// IssueStatusOf returns the run as .worktrees/.status/<issue>.json shows it: running while it is queued or at
// work, complete when it is done, otherwise error. The format has no word for a run that needs a person, and a
// program that polls the file must not wait forever, so such a run is an error whose message says why.
func IssueStatusOf(r *workflow.Run) IssueStatus {
	s := IssueStatus{Issue: r.Details.Number, Status: IssueRunning, Session: SessionName(r.Details.Number), Timestamp: r.UpdatedAt.UTC()}
	switch r.State {
	case workflow.Done:
		s.Status = IssueComplete
	case workflow.Canceled:
		s.Status, s.ErrorMessage = IssueError, "canceled"
	case workflow.NeedsInput, workflow.Failed:
		s.Status, s.ErrorMessage = IssueError, r.Error.Title+": "+r.Error.Message
	}
	return s
}

// CutOff returns the issue's status for a run that no process holds any more. written is the status in the
// file. If both say that the run is at work, its process died before it could write the end, and the result
// is an error that says how to continue. A status that another program wrote after the run was last saved
// stays as it is. Nothing is written: the run will continue, and then the file is right again.
//
// say renders a next step as a command.
func CutOff(r *workflow.Run, written IssueStatus, say func(workflow.NextStep) string) IssueStatus {
	if r.UnderWay() && written.Status == IssueRunning && !written.Timestamp.After(r.UpdatedAt) {
		written.Status, written.ErrorMessage = IssueError, "interrupted: no process runs it; "+say(r.Ask("continue", workflow.VerbResume))
	}
	return written
}
