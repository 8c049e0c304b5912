package issue

import (
	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
)

func newIssueError(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "error ISSUE",
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return offerIssues(a, c, args, begun)
		},
		RunE: func(c *cobra.Command, args []string) error {
			status, _, err := issueStatus(c.Context(), a, args[0])
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON(status.ErrorMessage)
			case status.ErrorMessage != "":
				printText(a, status.ErrorMessage)
			}
			return nil
		},
	}
}
