package run

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
)

func newResume(a *command.Invocation) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:  "resume RUN",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return order(c.Context(), a, args[0], app.Resume(force))
		},
	}
	c.Flags().BoolVar(&force, "force", false, "lose unrecorded work that is too large to keep, or go on although the tests cannot run")
	command.AddRunFlags(a, c)
	return c
}
