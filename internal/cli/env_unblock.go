package cli

import (
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/workflow"
)

func newEnvUnblock(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "unblock ENV_ID",
		Short:             "Say that nothing stands in the way any more",
		Long:              "Take the block away: the environment is what it was before, pr_created if it has a pull request, else active.",
		Example:           "  signalbox env unblock abc-123",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.offerEnvironments(),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeEnvironment(c.Context(), args[0], func(e *workflow.Environment, _ time.Time) error {
				if !e.Unblock() {
					a.warn("it was not blocked")
				}
				return nil
			})
		},
	}
}
