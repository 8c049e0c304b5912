package run

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
)

func newSync(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use:  "sync RUN",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return order(c.Context(), a, args[0], app.Sync())
		},
	}
	command.AddRunFlags(a, c)
	return c
}
