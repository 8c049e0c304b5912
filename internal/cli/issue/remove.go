package issue

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
)

func newIssueRemove(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "remove ISSUE",
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return offerIssues(a, c, args, begun)
		},
		RunE: func(c *cobra.Command, args []string) error {
			n, err := app.ParseIssue(args[0])
			if err != nil {
				return err
			}
			if err := app.RemoveIssue(c.Context(), a.Opener, n); err != nil || !a.JSON {
				return err
			}
			return a.PrintJSON(map[string]int{"removed": n})
		},
	}
}
