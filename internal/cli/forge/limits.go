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
	var all bool
	c := &cobra.Command{
		Use: "limits", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.OpenTrusted(c.Context())
			if err != nil {
				return err
			}
			var limits intake.Limits
			if all {
				limits, err = intake.AllLimitsOf(p.App)
			} else {
				limits, err = intake.LimitsOf(c.Context(), p.App)
			}
			if err != nil {
				return err
			}
			return p.Show(limits, func() {
				for _, credential := range limits.Credentials {
					showLimits(p, credential)
				}
			})
		},
	}
	a.AddTrustFlag(c)
	c.Flags().BoolVar(&all, "all", false, "show every server and credential that your processes called, and call none")
	return c
}

func showLimits(p *command.Project, c intake.Credential) {
	p.Print("%s, %s\n", redact.Line(c.Host, 200), redact.Line(c.Name, 200))
	if len(c.Budgets) == 0 {
		p.Print("  it reports no limit\n")
	}
	for _, b := range c.Budgets {
		p.Print("  %-12s %d of %d calls left until %s\n", redact.Line(b.Name, 40), b.Remaining, b.Limit.Limit, commandline.When(b.Reset))
	}
	if c.HeldUntil != nil {
		p.Print("  calls are held back until %s: the limit is used up, or the server asked for that\n", commandline.When(*c.HeldUntil))
	}
	p.Print("  this hour  24 hours\n")
	for _, line := range []struct {
		hour, day int
		what      string
	}{
		{c.Hour.Paid, c.Day.Paid, "paid calls"},
		{c.Hour.Unchanged, c.Day.Unchanged, `answered "not modified"`},
		{c.Hour.Joined + c.Hour.Recent, c.Day.Joined + c.Day.Recent, "not sent: another call had the answer"},
		{c.Hour.Held, c.Day.Held, "not sent: the server would have refused"},
	} {
		if line.day > 0 {
			p.Print("  %9d %9d  %s\n", line.hour, line.day, line.what)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(c.Hour.Calls)) {
		p.Print("  %9d            %s\n", c.Hour.Calls[kind], redact.Line(kind, 100))
	}
}
