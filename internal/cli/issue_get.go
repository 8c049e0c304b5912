package cli

import "github.com/spf13/cobra"

func newIssueGet(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "get ISSUE",
		Short:             "Print an issue's status in one word",
		Long:              "Print running, complete or error, or unknown where nothing is written about the issue.",
		Example:           "  signalbox issue get 42\n  while [ \"$(signalbox issue get 42)\" = running ]; do sleep 5; done",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.offerIssues,
		RunE: func(c *cobra.Command, args []string) error {
			status, _, err := a.issueStatus(c.Context(), args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(status.Status)
			}
			a.print("%s\n", status.Status)
			return nil
		},
	}
}
