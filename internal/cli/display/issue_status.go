package display

import (
	"time"

	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
)

// PrintIssueStatus prints the four lines of S6.
func PrintIssueStatus(a *command.Invocation, s registry.IssueStatus) {
	a.Print("Issue #%d: %s\n", s.Issue, s.Status)
	if s.Session != "" {
		a.Print("Session: %s\n", redact.Line(s.Session, 200))
	}
	if s.Status == registry.IssueError {
		a.Print("Error: %s\n", redact.Line(s.ErrorMessage, 400))
	}
	a.Print("Timestamp: %s\n", s.Timestamp.UTC().Format(time.RFC3339))
}
