package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/health"
	"signalbox/internal/store"
)

func newHealthRestore(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "restore",
		Short: "Restore a broken state.json from state.json.bak, or create it anew",
		Long: "Put state.json.bak in the place of a state.json that cannot be read, or begin anew where that one cannot be\n" +
			"read either; the totals go on. The broken file is kept as state.json.broken-<time>.",
		Example: "  signalbox health restore",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withHealth(c.Context(), func(doc *store.Document[health.State]) error {
				restoration, err := doc.Restore(c.Context())
				if err != nil {
					return err
				}
				if restoration.Broken == nil {
					a.print("state.json is sound, or not there; nothing to restore\n")
				}
				a.tellRestored(restoration, "restored from")
				return nil
			})
		},
	}
}
