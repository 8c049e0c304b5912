package run

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
)

func newSync(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use:   "sync RUN",
		Short: "Merge the current base branch into a run's change and test it again",
		Long: "Merge today's base branch into the change of a run that isn't at work. If they conflict, the agent resolves the conflicts.\n" +
			"The tests and the review run again, and an earlier approval no longer counts. To resolve conflicts yourself, merge the\n" +
			"base into the run's branch in your own checkout and resume the run: it takes your commits.",
		Example: "  signalbox sync 42",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return order(c.Context(), a, args[0], app.Sync())
		},
	}
	command.AddRunFlags(a, c)
	return c
}
