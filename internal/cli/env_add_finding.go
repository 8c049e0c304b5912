package cli

import (
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/workflow"
)

func newEnvAddFinding(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "add-finding ENV_ID FINDING",
		Short:             "Add a review finding that is to be resolved",
		Long:              "Add a finding to pending_issues, as one line. One that is there already is not added twice.",
		Example:           "  signalbox env add-finding abc-123 \"parse.go: reads past the end\"",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.offerEnvironments(),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeEnvironment(c.Context(), args[0], func(e *workflow.Environment, _ time.Time) error {
				_, err := e.AddFinding(args[1])
				return err
			})
		},
	}
}
