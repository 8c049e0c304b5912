package heal

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
)

func newHealthRestore(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "restore",
		Short: "Restore a broken state.json from state.json.bak, or create it anew",
		Long: "Put state.json.bak in the place of a state.json that cannot be read, or begin anew where that one cannot be\n" +
			"read either; the totals go on. The broken file is kept as state.json.broken-<time>.",
		Example: "  signalbox health restore",
		RunE: func(c *cobra.Command, _ []string) error {
			restored, err := healing.Restore(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"restored": restored.Broken != nil, "from_backup": restored.Backup, "kept": restored.Kept})
			}
			if restored.Broken == nil {
				a.Print("there is nothing to restore\n")
			}
			tellRestored(a, restored, "restored from")
			return nil
		},
	}
}
