package env

import (
	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/registry"
)

func newEnvFindByPR(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "find-by-pr PR",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return findEnvironments(c.Context(), a, "a pull request", args[0], (*registry.Environments).ByPR)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}
