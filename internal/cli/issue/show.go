package issue

import (
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/problem"
)

func newIssueShow(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "show ISSUE",
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return offerIssues(a, c, args, begun)
		},
		RunE: func(c *cobra.Command, args []string) error {
			status, found, err := issueStatus(c.Context(), a, args[0])
			if err != nil {
				return err
			}
			if !found {
				return &problem.Error{Err: fmt.Errorf("nothing is written about issue %d", status.Issue), Code: problem.NotFound,
					Hint: fmt.Sprintf("see what there is: signalbox issue list; or write it: signalbox issue set %d running", status.Issue)}
			}
			if a.JSON {
				return a.PrintJSON(status)
			}
			display.PrintIssueStatus(a, status)
			return nil
		},
	}
}
