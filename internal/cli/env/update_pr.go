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
		Short:             "Record the opened pull request",
		Long:              "Record the number: the environment is pr_created, at pr-create. One that is blocked stays so, and is pr_created when\nit is unblocked.",
		Example:           "  signalbox env update-pr abc-123 45",
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
