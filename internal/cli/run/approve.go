package run

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
)

func newApprove(a *command.Invocation) *cobra.Command {
	var commit string
	var noRun bool
	c := &cobra.Command{
		Use:  "approve RUN",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return orderOrLeave(c.Context(), a, args[0], noRun, app.Approve(commit))
		},
	}
	c.Flags().StringVar(&commit, "commit", "", "refuse unless the change is this commit (at least 7 digits)")
	c.Flags().BoolVar(&noRun, "no-run", false, "only leave the approval; the next \"signalbox resume\" takes it")
	command.AddRunFlags(a, c)
	return c
}
