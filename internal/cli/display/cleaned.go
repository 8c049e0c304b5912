package display

import (
	"signalbox/internal/app"
	"signalbox/internal/cli/command"
)

// PrintCleaned says what became of the status of one issue.
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
