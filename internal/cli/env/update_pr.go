package env

import (
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/registry"
)

func newEnvUpdatePR(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "update-pr ENV_ID PR",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			number, err := parseNumber("a pull request", args[1])
			if err != nil {
				return err
			}
			return changeEnvironment(c.Context(), a, args[0], func(e *registry.Environment, now time.Time) error { return e.UpdatePR(number, now) })
		},
	}
}
