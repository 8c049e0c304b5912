package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/problem"
)

func newHealthValidate(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "validate",
		Short:   "Check that state.json is complete and consistent",
		Example: "  signalbox health validate",
		RunE: func(c *cobra.Command, _ []string) error {
			h, err := a.loadHealth(c.Context())
			if err != nil {
				return err
			}
			if err := h.Validate(); err != nil {
				return &problem.Error{Err: err, Hint: `mend state.json, or begin anew: signalbox health init --force`}
			}
			if a.json {
				return a.printJSON(map[string]bool{"valid": true})
			}
			a.print("state.json is valid\n")
			return nil
		},
	}
}
