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
		Use:   "approve RUN",
		Short: "Approve the change of a waiting run, so that it's merged",
		Long: "Agree to exactly the commit that the run shows. If the change moves afterwards, the approval is void and the\n" +
			"run asks again.",
		Example: "  signalbox approve 42\n  signalbox approve 42 --commit 1f2e3d4c5b",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return orderOrLeave(c.Context(), a, args[0], noRun, app.Approve(commit))
		},
	}
	c.Flags().StringVar(&commit, "commit", "", "refuse unless the change is this commit (at least 7 digits)")
	c.Flags().BoolVar(&noRun, "no-run", false, "only leave the approval; the next \"signalbox resume\" takes it")
	command.AddRunFlags(a, c)
	return c
}
