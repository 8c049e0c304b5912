package display

import (
	"time"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
)

// PrintIssueStatus prints the status of an issue in up to four lines, which scripts may read.
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

// PrintCleaned says whether the status of one issue was removed.
func PrintCleaned(a *command.Invocation, i app.CleanedIssue) {
	switch {
	case i.Kept != "":
		a.Print("kept %d: %s\n", i.Issue, i.Kept)
	case i.Removed:
		a.Print("removed %d\n", i.Issue)
	default:
		a.Print("would remove %d\n", i.Issue)
	}
}
