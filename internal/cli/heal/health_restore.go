package heal

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
)

func newHealthRestore(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "restore",
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
