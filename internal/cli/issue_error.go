package cli

import "github.com/spf13/cobra"

func newIssueError(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "error ISSUE",
		Short:             "Print an issue's error message",
		Long:              "Print the message as it was given; nothing where there is none.",
		Example:           "  signalbox issue error 42",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.offerIssues,
		RunE: func(c *cobra.Command, args []string) error {
			status, _, err := a.issueStatus(c.Context(), args[0])
			switch {
			case err != nil:
				return err
			case a.json:
				return a.printJSON(status.ErrorMessage)
			case status.ErrorMessage != "":
				a.printText(status.ErrorMessage)
			}
			return nil
		},
	}
}
