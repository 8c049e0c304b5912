package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
)

func newSync(a *invocation) *cobra.Command {
	c := &cobra.Command{
		Use:   "sync RUN",
		Short: "Merge the current base branch into a run's change and test it again",
		Long: "Merge the base branch, as it is now, into the change of a run that stands still. If they conflict, the agent resolves the\n" +
			"conflicts. The tests run again, the review too, and an approval given before is void. To resolve conflicts yourself,\n" +
			"merge the base into the run's branch in your own checkout and resume the run: your commits are taken up.",
		Example: "  signalbox sync 42",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.order(c.Context(), args[0], app.Sync())
		},
	}
	a.carryFlags(c)
	return c
}
