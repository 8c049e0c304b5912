package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/problem"
)

func newIssueShow(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "show ISSUE",
		Short:             "Print everything recorded about an issue",
		Example:           "  signalbox issue show 42\n  signalbox issue show 42 --json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.offerIssues,
		RunE: func(c *cobra.Command, args []string) error {
			status, found, err := a.issueStatus(c.Context(), args[0])
			if err != nil {
				return err
			}
			if !found {
				return &problem.Error{Err: fmt.Errorf("nothing is written about issue %d", status.Issue), Code: problem.NotFound,
					Hint: fmt.Sprintf("see what there is: signalbox issue list; or write it: signalbox issue set %d running", status.Issue)}
			}
			if a.json {
				return a.printJSON(status)
			}
			a.printIssue(status)
			return nil
		},
	}
}
