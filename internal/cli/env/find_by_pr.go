package env

import (
	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/registry"
)

func newEnvFindByPR(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "find-by-pr PR",
		Short:   "Find the environments of a pull request, best one first",
		Example: "  signalbox env find-by-pr 45\n  signalbox env find-by-pr 45 --json | jq -r '.[0].env_id'",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return findEnvironments(c.Context(), a, "a pull request", args[0], (*registry.Environments).ByPR)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}
