package registry

import (
	"cmp"

	"signalbox/internal/workflow"
)

// EntryOf returns the run's entry in environments.json. ok is false before the
// run has an environment and after a canceled run was put away. A run that is
// blocked before it has an environment is listed too: the file shows everything
// that waits for a person (E5).
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
		entry.PendingIssues = append(entry.PendingIssues, f.Line1())
	}
	if entry.Status == EnvironmentMerged {
		entry.Phase, entry.Step = max(workflow.MergeCleanup, j.Phase), max(workflow.MergeCleanup, j.Phase).Step()
	}
	return entry, true
}

// IssueStatusOf returns the run in the words of .worktrees/.status/<n>.json. A
// program that polls the file must not wait for ever, so a run that needs a
// person is an error whose message says what to do.
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

// CutOff returns the issue's status, as read from its file, for a run that no
// process holds any more. If the run is still under way, its process died before
// it could write the end, and the status becomes an error. A status that another
// program wrote after the run was last saved stays. say renders a next step.
func CutOff(r *workflow.Run, written IssueStatus, say func(workflow.NextStep) string) IssueStatus {
	if r.UnderWay() && written.Status == IssueRunning && !written.Timestamp.After(r.UpdatedAt) {
		written.Status, written.ErrorMessage = IssueError, "interrupted: no process carries it; "+say(r.Ask("go on", workflow.VerbResume))
	}
	return written
}
