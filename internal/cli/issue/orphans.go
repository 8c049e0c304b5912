package issue

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
)

func newIssueOrphans(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "orphans",
		Short:   "List issues that have a status but no folder in .worktrees",
		Long:    "Print the numbers of issues that have a status, but neither a folder .worktrees/issue-<n> nor any .worktrees/issue-<n>-*.",
		Example: "  signalbox issue orphans\n  signalbox issue cleanup --orphans --dry-run",
		RunE: func(c *cobra.Command, _ []string) error {
			orphans, err := app.OrphanedIssues(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(orphans)
			}
			for _, n := range orphans {
				a.Print("%d\n", n)
			}
			return nil
		},
	}
}
