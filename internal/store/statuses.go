package store

import (
	"fmt"
	"slices"
	"strconv"

	"signalbox/internal/workflow"
)

// IssueStatus is .worktrees/.status/<issue>.json (S1).
func (s *Store) IssueStatus(issue int) *Document[workflow.IssueStatus] {
	d := &Document[workflow.IssueStatus]{store: s, dir: statusDir, name: strconv.Itoa(issue) + ".json", file: publicFile,
		mkd: publicDir, lock: "document.issue-status.lock", initial: func() workflow.IssueStatus { return workflow.IssueStatus{Issue: issue} },
		check: func(status *workflow.IssueStatus) error { return checkIssueStatus(issue, status) }}
	if issue < 1 {
		d.err = fmt.Errorf("issue number %d: %w", issue, ErrName)
	}
	return d
}

func checkIssueStatus(issue int, status *workflow.IssueStatus) error {
	if status.Issue != issue {
		return &workflow.InvalidError{Pointer: "/issue", Reason: fmt.Sprintf("issue %d in the file of issue %d", status.Issue, issue)}
	}
	if !slices.Contains(statusWords, status.Status) {
		return &workflow.InvalidError{Pointer: "/status", Reason: fmt.Sprintf("status %q is none of %q", status.Status, statusWords)}
	}
	return nil
}

// statusWords are those that a file may have.
var statusWords = []workflow.IssueStatusWord{workflow.IssueRunning, workflow.IssueComplete, workflow.IssueError}
