package workflow

import "fmt"

// The other documents' readings of a run's position (SPEC 0). They are derived,
// never kept by hand.

// EnvironmentID is the id of the run's environment, also before it is made.
func (r *Run) EnvironmentID() string { return fmt.Sprintf("issue-%d-%s", r.Journey.Number, r.RunID) }

// AsEnvironment is the run's entry in environments.json; ok is false before
// there is an environment to speak of and after a given-up run was put away. A
// run that is blocked before it has one is there all the same: whoever reads the
// file finds all that waits for a person (E5).
func (r *Run) AsEnvironment() (entry Environment, ok bool) {
	j := &r.Journey
	if j.EnvID == "" && j.Blocked == nil || r.State == Canceled {
		return Environment{}, false
	}
	id, created := j.EnvID, j.EnvCreated
	if id == "" {
		id, created = r.EnvironmentID(), j.Blocked.BlockedAt
	}
	entry = Environment{EnvID: id, Area: firstOf(j.Settings.Area, j.Area), Branch: j.Branch, IssueNumber: j.Number, Title: r.Title,
		Status: r.environmentStatus(), Phase: j.Phase, Step: j.Phase.Step(), Blocked: j.Blocked,
		CreatedAt: created, LastUsedAt: r.UpdatedAt}
	if j.PullRequest != nil {
		n := j.PullRequest.Number
		entry.PRNumber = &n
	}
	for _, f := range j.Findings {
		entry.PendingIssues = append(entry.PendingIssues, f.Line1())
	}
	if entry.Status == EnvironmentMerged {
		entry.Phase, entry.Step = max(MergeCleanup, j.Phase), max(MergeCleanup, j.Phase).Step()
	}
	return entry, true
}

func (r *Run) environmentStatus() EnvironmentStatus {
	j := &r.Journey
	switch {
	case j.MergeCommit != "":
		return EnvironmentMerged
	case j.Canceling:
		return EnvironmentAbandoned
	case j.Blocked != nil:
		return EnvironmentBlocked
	case j.PullRequest != nil:
		return EnvironmentPRCreated
	}
	return EnvironmentActive
}

// Line1 is the finding as one line: where, then what.
func (f Finding) Line1() string {
	text := printable(f.Text)
	if f.File != "" {
		text = printable(f.File) + ": " + text
	}
	return text
}

// AsIssueStatus is the run in the words of .worktrees/.status/<n>.json. Whoever
// waits for it must not wait for ever, so a run that needs a person is an error
// that says what to do.
func (r *Run) AsIssueStatus() IssueStatus {
	s := IssueStatus{Issue: r.Journey.Number, Status: IssueRunning, Session: r.SessionName(), Timestamp: r.UpdatedAt.UTC()}
	switch r.State {
	case Done:
		s.Status = IssueComplete
	case Canceled:
		s.Status, s.ErrorMessage = IssueError, "canceled"
	case NeedsInput, Failed:
		s.Status, s.ErrorMessage = IssueError, r.Error.Title+": "+r.Error.Message
	}
	return s
}

// UnderWay reports whether some process should be carrying the run.
func (r *Run) UnderWay() bool { return r.State == Queued || r.State == Running }

// CutOff is the issue's status, as read from its file, once no process carries the run that is under way:
// whoever carried it died before it could say so. What somebody else wrote since stands. say puts a step into words.
func (r *Run) CutOff(written IssueStatus, say func(NextStep) string) IssueStatus {
	if r.UnderWay() && written.Status == IssueRunning && !written.Timestamp.After(r.UpdatedAt) {
		written.Status, written.ErrorMessage = IssueError, "interrupted: no process carries it; "+say(r.Ask("go on", VerbResume))
	}
	return written
}

// SessionName is that of the run's issue.
func (r *Run) SessionName() string { return SessionName(r.Journey.Number) }

// ProgressPhase is the run's place among the seven of P9.
func (r *Run) ProgressPhase() ProgressPhase {
	if r.State == Done {
		return ProgressComplete
	}
	if r.Journey.SettingUp && r.Journey.Phase != EnvCreate {
		return ProgressEnvironmentSetup
	}
	return r.Journey.Phase.Position().Progress
}
