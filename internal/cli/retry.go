package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
)

func newRetry(a *invocation) *cobra.Command {
	c := &cobra.Command{
		Use:     "retry RUN",
		Short:   "Retry a failed run from the step that failed",
		Example: "  signalbox retry 42",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.order(c.Context(), args[0], app.Retry())
		},
	}
	a.carryFlags(c)
	return c
}
