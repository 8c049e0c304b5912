package heal

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
)

func newHealthEscalate(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "escalate",
		RunE: func(c *cobra.Command, _ []string) error {
			state, request, err := healing.Escalate(c.Context(), a.Opener)
			if err == nil && a.JSON {
				return a.PrintJSON(map[string]string{"request": request.ID, "path": request.Path})
			}
			if err == nil {
				tellCritical(a, state, request)
			}
			return err
		},
	}
}
