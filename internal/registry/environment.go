package registry

import (
	"time"

	"signalbox/internal/workflow"
)

// Environments is the document environments.json, in the project root: how far the work on each
// issue has come, and in which environment. Signalbox, scripts and other tools read and write it.
// A project without the file has no entries.
type Environments struct {
	// Environments holds the entries in the order in which they were added. Ids are unique.
	Environments []Environment `json:"environments"`
	// Unknown holds keys of other programs. They survive every update.
	Unknown workflow.Unknown `json:",embed"`
}

// Environment is one entry of environments.json: how far the work on an issue has come, and in which
// environment. A run's entry is a projection, overwritten at the run's next transition. A person or a
// script keeps any other entry.
type Environment struct {
	// EnvID is the key of the entry. A run's is issue-<number>-<run id>; another tool uses its own ids.
	EnvID string `json:"env_id"`
	// Branch is the short name of the git branch with the work, without refs/heads/.
	Branch string `json:"branch"`
	// IssueNumber is the number of the issue or request, from 1. Several entries may have the same one.
	IssueNumber int `json:"issue_number"`
	// PRNumber is the number of the pull request, from 1; null before there is one.
	PRNumber *int `json:"pr_number"`
	// Title says on one line what the work is.
	Title string `json:"title"`
	// Status says whether the work continues, waits for a person, or has ended.
	Status EnvironmentStatus `json:"status"`
	// Phase is the number of Step, 0 to 14. If the two disagree, Step counts and Phase is fixed when the
	// document is read.
	Phase workflow.Phase `json:"phase"`
	// Step is the name of the phase in which the work is. A name that Signalbox doesn't know stays, with its
	// number, and is resumed by opening the environment.
	Step workflow.StepName `json:"step"`
	// Area is the part of the project that the work is about, such as backend; empty if unknown.
	Area string `json:"area"`
	// Blocked says why the work stopped and what a person should do; null if nothing blocks it.
	Blocked *workflow.Blocked `json:"blocked"`
	// PendingIssues are review findings not yet resolved, one line each, in the order in which they were reported.
	PendingIssues []string `json:"pending_issues"`
	// CreatedAt is when the environment was made. If a run was blocked before that, it is when it was blocked.
	CreatedAt time.Time `json:"created_at"`
	// LastUsedAt is when the environment was last opened or its work moved on. Cleanup measures its age
	// from here. A block and a finding don't count as use.
	LastUsedAt time.Time `json:"last_used_at"`
	// Unknown holds keys of other programs. They survive every update.
	Unknown workflow.Unknown `json:",embed"`
}

// EnvironmentStatus says whether the work of an entry continues, waits or has ended.
type EnvironmentStatus string

const (
	// EnvironmentActive: work is under way, and continues at the entry's phase.
	EnvironmentActive EnvironmentStatus = "active"
	// EnvironmentBlocked: the work waits for a person. Unblocking restores the status before, active or pr_created.
	EnvironmentBlocked EnvironmentStatus = "blocked"
	// EnvironmentPRCreated: the change is offered as a pull request, which is not merged or closed yet.
	EnvironmentPRCreated EnvironmentStatus = "pr_created"
	// EnvironmentMerged: the change was merged. Final; cleanup deletes the entry 7 days after its last use.
	EnvironmentMerged EnvironmentStatus = "merged"
	// EnvironmentAbandoned: the work was given up, or its pull request closed without a merge. Final; cleanup
	// deletes the entry at once.
	EnvironmentAbandoned EnvironmentStatus = "abandoned"
)

// IssueStatus is the document .worktrees/.status/<issue>.json: one word for scripts that wait for an
// issue, and the reason if it failed. Unless the user says otherwise, cleanup keeps a final status for at
// least 7 days.
type IssueStatus struct {
	// Issue is the issue's number, from 1, as in the name of the file.
	Issue int `json:"issue"`
	// Status is running, complete or error.
	Status IssueStatusWord `json:"status"`
	// Session is the name of the agent's session, signalbox-issue-<issue> unless the writer gave another.
	Session string `json:"session"`
	// ErrorMessage says what went wrong, in any language and on any number of lines. The status error needs one.
	ErrorMessage string `json:"error_message,omitempty"`
	// Timestamp is when the status was set, in UTC. The 7 days of a final status count from here.
	Timestamp time.Time `json:"timestamp"`
	// Unknown holds keys of other programs. They survive every update.
	Unknown workflow.Unknown `json:",embed"`
}

// IssueStatusWord is the one word that scripts wait for.
type IssueStatusWord string

const (
	// IssueRunning: the work is queued or under way. If its process is killed, the file keeps this word.
	IssueRunning IssueStatusWord = "running"
	// IssueComplete: the change was merged, or a session's agent reported its task complete.
	IssueComplete IssueStatusWord = "complete"
	// IssueError: the work failed, was canceled, or needs a person. The message says which.
	IssueError IssueStatusWord = "error"
	// IssueUnknown is the answer for an issue without a file. It is never written.
	IssueUnknown IssueStatusWord = "unknown"
)
