package heal

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
)

func newHealthShow(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "show",
		RunE: func(c *cobra.Command, _ []string) error {
			h, err := healing.State(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(h)
			}
			printHealth(a, h, h.Gate(0, a.Opener.Now()))
			printCriticalAdvice(a, h)
			return nil
		},
	}
}
