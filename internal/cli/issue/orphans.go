package issue

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
)

func newIssueOrphans(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "orphans",
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
