package env

import (
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

func newEnvSetPhase(a *command.Invocation) *cobra.Command {
	var steps []string
	for _, row := range workflow.Positions {
		steps = append(steps, string(row.Step))
	}
	return &cobra.Command{
		Use:               "set-phase ENV_ID [PHASE] STEP",
		Args:              cobra.RangeArgs(2, 3),
		ValidArgsFunction: offerEnvironments(a, steps...),
		RunE: func(c *cobra.Command, args []string) error {
			phase, mended, err := registry.ParsePosition(args[1:]...)
			if err != nil {
				return environments.Explained(args[0], err)
			}
			if mended {
				a.Mended("phase "+args[1], []string{"the number of " + args[2] + " is derived from its name"})
			}
			return changeEnvironment(c.Context(), a, args[0], func(e *registry.Environment, now time.Time) error { return e.SetPhase(phase, now) })
		},
	}
}
