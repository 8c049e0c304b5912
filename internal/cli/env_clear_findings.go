package cli

import (
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/workflow"
)

func newEnvClearFindings(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "clear-findings ENV_ID",
		Short:             "Take out all review findings",
		Example:           "  signalbox env clear-findings abc-123",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.offerEnvironments(),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeEnvironment(c.Context(), args[0], func(e *workflow.Environment, _ time.Time) error {
				e.ClearFindings()
				return nil
			})
		},
	}
}
