package env

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
)

func newEnvBlocked(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "blocked",
		RunE: func(c *cobra.Command, _ []string) error {
			doc, err := environments.Read(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			report := doc.BlockedReport()
			if a.JSON {
				return a.PrintJSON(report)
			}
			printBlocked(a, report)
			return nil
		},
	}
}

func printBlocked(a *command.Invocation, report []registry.BlockedEnvironment) {
	if len(report) == 0 {
		a.Print("no environment is blocked\n")
		return
	}
	a.Print("%s\n", a.Paint(command.Yellow, "=== BLOCKED ENVIRONMENTS ==="))
	for _, b := range report {
		a.Print("  Issue #%d: %s\n", b.IssueNumber, redact.Line(b.Description, 400))
		a.Print("    Reason: %s\n", redact.Line(string(b.Reason), 40))
		a.Print("    Suggested: %s\n", redact.Line(b.SuggestedAction, 400))
		a.Print("    Blocked since: %s\n", commandline.WhenKnown(b.BlockedAt))
		a.Print("    When it is settled: signalbox env unblock %s\n", commandline.ShellWord(redact.Line(b.EnvID, 200)))
	}
}
