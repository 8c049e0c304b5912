package cli

import "github.com/spf13/cobra"

func newHealthShow(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "Print the state of the self-healing loop",
		Example: "  signalbox health show\n  signalbox health show --json | jq .retry_required",
		RunE: func(c *cobra.Command, _ []string) error {
			h, err := a.loadHealth(c.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(h)
			}
			a.printHealth(h, h.Gate(0, a.HealthTime()))
			a.printCriticalAdvice(h)
			return nil
		},
	}
}
