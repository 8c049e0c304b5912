package issue

import (
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
)

func newIssueGet(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "get ISSUE",
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return offerIssues(a, c, args, begun)
		},
		RunE: func(c *cobra.Command, args []string) error {
			status, found, err := issueStatus(c.Context(), a, args[0])
			if err != nil {
				return err
			}
			if !found && a.Terminal { // a script has its answer
				_, _ = fmt.Fprintf(a.Err, "nothing is written about issue %d; see what there is: signalbox issue list\n", status.Issue)
			}
			if a.JSON {
				return a.PrintJSON(status.Status)
			}
			a.Print("%s\n", status.Status)
			return nil
		},
	}
}
