package forge

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"signalbox/internal/app/intake"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
)

func newLimits(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use: "limits", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.OpenTrusted(c.Context())
			if err != nil {
				return err
			}
			limits, err := intake.LimitsOf(c.Context(), p.App)
			if err != nil {
				return err
			}
			return p.Show(limits, func() {
				if len(limits.Budgets) == 0 {
					p.Print("%s reports no limit\n", redact.Line(limits.Server, 200))
				}
				for _, b := range limits.Budgets {
					p.Print("%-12s %d of %d calls left until %s\n", redact.Line(b.Name, 40), b.Remaining, b.Limit, commandline.When(b.Reset))
				}
				for _, kind := range slices.Sorted(maps.Keys(limits.Calls)) {
					p.Print("%6d  %s\n", limits.Calls[kind], redact.Line(kind, 100))
				}
				if limits.Unchanged+limits.Joined > 0 {
					p.Print("%d of these were answered with \"not modified\"; %d more were joined with an equal call\n", limits.Unchanged, limits.Joined)
				}
			})
		},
	}
	a.AddTrustFlag(c)
	return c
}
