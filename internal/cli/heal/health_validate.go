package heal

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
)

func newHealthValidate(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "validate",
		RunE: func(c *cobra.Command, _ []string) error {
			h, err := healing.State(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			if err := h.Validate(); err != nil {
				return &problem.Error{Err: err, Hint: `mend state.json, or begin anew: signalbox health init --force`}
			}
			if a.JSON {
				return a.PrintJSON(map[string]bool{"valid": true})
			}
			a.Print("state.json is valid\n")
			return nil
		},
	}
}
