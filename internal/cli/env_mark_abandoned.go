package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/workflow"
)

func newEnvMarkAbandoned(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "mark-abandoned ENV_ID",
		Short:             "Record that the work was given up, or its pull request closed unmerged",
		Long:              "Record the end: the environment is abandoned, and the next \"signalbox env cleanup\" deletes it.",
		Example:           "  signalbox env mark-abandoned abc-123",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.offerEnvironments(),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeEnvironment(c.Context(), args[0], (*workflow.Environment).MarkAbandoned)
		},
	}
}
