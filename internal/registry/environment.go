package registry

import (
	"time"

	"signalbox/internal/workflow"
)

// Environments is the document environments.json (SPEC E1).
type Environments struct {
	Environments []Environment    `json:"environments"`
	Unknown      workflow.Unknown `json:",embed"`
}

// Environment is one entry of environments.json (E2): where an issue's work
// stands and in which environment. For a run of ours it is a projection; a
// person or a script may also keep one by hand.
type Environment struct {
	EnvID       string            `json:"env_id"`
	Branch      string            `json:"branch"`
	IssueNumber int               `json:"issue_number"`
	PRNumber    *int              `json:"pr_number"`
	Title       string            `json:"title"`
	Status      EnvironmentStatus `json:"status"`
	Phase       workflow.Phase    `json:"phase"`
	Step        workflow.StepName `json:"step"`
	Area        string            `json:"area"`
	Blocked     *workflow.Blocked `json:"blocked"`
	// PendingIssues are review findings not yet resolved, one line each.
	PendingIssues []string         `json:"pending_issues"`
	CreatedAt     time.Time        `json:"created_at"`
	LastUsedAt    time.Time        `json:"last_used_at"`
	Unknown       workflow.Unknown `json:",embed"`
}

// EnvironmentStatus is one of E3's five.
type EnvironmentStatus string

const (
	EnvironmentActive    EnvironmentStatus = "active"
	EnvironmentBlocked   EnvironmentStatus = "blocked" // an overlay: unblocking returns to the status before
	EnvironmentPRCreated EnvironmentStatus = "pr_created"
	EnvironmentMerged    EnvironmentStatus = "merged"
	EnvironmentAbandoned EnvironmentStatus = "abandoned"
)

// IssueStatus is the document .worktrees/.status/<issue>.json (SPEC S1).
type IssueStatus struct {
	Issue        int              `json:"issue"`
	Status       IssueStatusWord  `json:"status"`
	Session      string           `json:"session"`
	ErrorMessage string           `json:"error_message,omitempty"`
	Timestamp    time.Time        `json:"timestamp"`
	Unknown      workflow.Unknown `json:",embed"`
}

// IssueStatusWord is the one word that scripts wait for.
type IssueStatusWord string

const (
	IssueRunning  IssueStatusWord = "running"
	IssueComplete IssueStatusWord = "complete"
	IssueError    IssueStatusWord = "error"
	IssueUnknown  IssueStatusWord = "unknown" // there is no file; never written
)
