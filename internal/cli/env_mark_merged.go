package cli

import (
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/workflow"
)

func newEnvMarkMerged(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "mark-merged ENV_ID",
		Short:             "Record that the pull request was merged",
		Long:              "Record the merge: the environment is merged, at merge-cleanup, and \"signalbox env cleanup\" deletes it after 7 days.",
		Example:           "  signalbox env mark-merged abc-123",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.offerEnvironments(),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeEnvironment(c.Context(), args[0], func(e *workflow.Environment, now time.Time) error {
				e.MarkMerged(now)
				return nil
			})
		},
	}
}
