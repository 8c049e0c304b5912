package cli

import (
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/workflow"
)

func newEnvTouch(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "touch ENV_ID",
		Short:             "Say that an environment was opened just now",
		Example:           "  signalbox env touch abc-123",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.offerEnvironments(),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeEnvironment(c.Context(), args[0], func(e *workflow.Environment, now time.Time) error {
				e.Touch(now)
				return nil
			})
		},
	}
}
