package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/registry"
)

func newEnvFindByPR(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "find-by-pr PR",
		Short:   "Find the environments of a pull request, best one first",
		Example: "  signalbox env find-by-pr 45\n  signalbox env find-by-pr 45 --json | jq -r '.[0].env_id'",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.findEnvironments(c.Context(), "a pull request", args[0], (*registry.Environments).ByPR)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}
