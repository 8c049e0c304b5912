package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
)

func newEnvBlocked(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "blocked",
		Short:   "List blocked environments: why, since when, how to unblock them",
		Example: "  signalbox env blocked\n  signalbox env blocked --json | jq -r '.[].reason'",
		RunE: func(c *cobra.Command, _ []string) error {
			doc, err := a.registered(c.Context())
			if err != nil {
				return err
			}
			report := doc.BlockedReport()
			if a.json {
				return a.printJSON(report)
			}
			a.printBlocked(report)
			return nil
		},
	}
}

func (a *invocation) printBlocked(report []registry.BlockedEnvironment) {
	if len(report) == 0 {
		a.print("no environment is blocked\n")
		return
	}
	a.print("%s\n", a.paint(yellow, "=== BLOCKED ENVIRONMENTS ==="))
	for _, b := range report {
		a.print("  Issue #%d: %s\n", b.IssueNumber, redact.Line(b.Description, 400))
		a.print("    Reason: %s\n", redact.Line(string(b.Reason), 40))
		a.print("    Suggested: %s\n", redact.Line(b.SuggestedAction, 400))
		a.print("    Blocked since: %s\n", commandline.WhenKnown(b.BlockedAt))
		a.print("    When it is settled: signalbox env unblock %s\n", commandline.ShellWord(redact.Line(b.EnvID, 200)))
	}
}
