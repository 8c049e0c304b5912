package heal

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/health"
	"signalbox/internal/redact"
)

func NewHealth(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use: "health",
	}
	c.AddCommand(newHealthShow(a), newHealthInit(a), newHealthValidate(a), newHealthGate(a), newHealthRecord(a), newHealthEscalate(a), newHealthRestore(a))
	return c
}

// tellRestored says on standard error what became of a broken file.
func tellRestored(a *command.Invocation, r healing.Restoration, did string) {
	if r.Broken == nil {
		return
	}
	from := "zero, with the totals as they were"
	if r.Backup {
		from = "state.json.bak"
	}
	_, _ = fmt.Fprintf(a.Err, "%s %s; %s %s", a.Paint(command.Yellow, "warning:"), redact.Clean(r.Broken.Error()), did, from)
	if r.Kept != "" {
		_, _ = fmt.Fprintf(a.Err, "; the broken file is kept as %s", r.Kept)
	}
	_, _ = fmt.Fprintln(a.Err)
}

func printHealth(a *command.Invocation, h health.State, gate health.Gate) {
	text := func(s string) string {
		if s == "" {
			return "-"
		}
		return redact.Line(s, 300)
	}
	a.Print("Health: %s\n", text(h.LastHealthStatus))
	a.Print(healthLine, "gate", fmt.Sprintf("%s: %s%s", gate.Decision, redact.Clean(gate.Reason), until(gate)))
	printLastError(a, h)
	undone := ""
	if h.Loop.Undone > 0 {
		undone = fmt.Sprintf(" (%d did not hold)", h.Loop.Undone)
	}
	inARow := ""
	if h.ContinuousFailureCount > 0 {
		inARow = "; " + h.FailedInARow()
	}
	a.Print("  %-10s %s, %s detected, %s begun, %d succeeded%s%s\n", "totals", commandline.Count(h.RunCount, "pass"), commandline.Count(h.TotalErrorsDetected, "error"),
		commandline.Count(h.TotalFixesAttempted, "repair"), h.TotalFixesSucceeded, undone, inARow)
	if h.LastAttemptAt != "" {
		a.Print(healthLine, "attempted", "the last repair was begun at "+moment(h.LastAttemptAt))
	}
	if h.UpdatedAt != "" {
		a.Print(healthLine, "written", moment(h.UpdatedAt))
	}
}

// printCriticalAdvice ends what is shown about a critical state.
func printCriticalAdvice(a *command.Invocation, h health.State) {
	if h.LastHealthStatus == health.Critical {
		a.Print("%s\n", criticalAdvice(h))
	}
}

// healthLine is one fact about the loop, under its name.
const healthLine = "  %-10s %s\n"

// printLastError names the error that was found last, which a healthy project has behind it.
func printLastError(a *command.Invocation, h health.State) {
	if h.LastErrorID == "" {
		return
	}
	name := "error"
	if h.LastHealthStatus == health.Healthy {
		name = "last error"
	}
	a.Print(healthLine, name, redact.Line(h.LastErrorID, 60)+": "+redact.Joined(h.LastErrorSummary, 300))
}

func until(g health.Gate) string {
	if g.Until.IsZero() {
		return ""
	}
	return " (" + moment(g.Until.Format(time.RFC3339)) + ")"
}

// criticalAdvice is what a person does about a critical state.
func criticalAdvice(h health.State) string {
	about := `open the request about it: signalbox health escalate`
	if h.Loop.Request != "" {
		about = "see request " + redact.Line(h.Loop.Request, 60)
	}
	return strings.Join([]string{"  " + about, `  when it is mended, or to have it tried again: "` + app.RearmCommand + `"`}, "\n")
}
