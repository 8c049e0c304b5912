package heal

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
)

func newHealthInit(a *command.Invocation) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "init",
		RunE: func(c *cobra.Command, _ []string) error {
			kept, err := healing.Begin(c.Context(), a.Opener, force)
			if err == nil && a.JSON {
				return a.PrintJSON(map[string]string{"kept": kept})
			}
			if err == nil && kept != "" {
				a.Print("the one that was there is kept as %s\n", kept)
			}
			return err
		},
	}
	c.Flags().BoolVar(&force, "force", false, "begin anew although there is one, broken or not; it is kept as state.json.former-<time>")
	return c
}
