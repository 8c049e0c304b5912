package cli

import "github.com/spf13/cobra"

func newHeal(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "heal",
		Short: "Watch the project's own health, and have an agent repair it",
		Long: "Two layers that cannot be confused: the control layer, in CI, asks \"heal gate\" whether a pass is due and decides\n" +
			"nothing else; the repair layer looks, repairs, and records facts in state.json.",
		Example: "  signalbox heal gate",
	}
	c.AddCommand(newHealInit(a), newHealGate(a))
	return c
}

// newHealGate is "health gate" where a loop looks for it.
func newHealGate(a *app) *cobra.Command {
	c := newHealthGate(a)
	c.Example = "  signalbox heal gate\n  signalbox heal gate --check-every 15m --json"
	return c
}
