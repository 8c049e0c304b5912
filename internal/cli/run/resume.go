package run

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
)

func newResume(a *command.Invocation) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Continue a run that stopped for you or was interrupted",
		Long: "Go on with a run that stopped, once what stopped it is settled. Its budgets for retries are granted anew.\n" +
			"Work that lies unrecorded in its environment is put on a ref first. What is too large for that stops the run, until it is\n" +
			"taken away from there, or --force says that it may be lost.\n" +
			"A run whose tests cannot run goes on from its base branch and with the tests that are configured now; --force lets it go on\n" +
			"without knowing what they say there.",
		Example: "  signalbox resume 42\n  signalbox resume 42 --force",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return order(c.Context(), a, args[0], app.Resume(force))
		},
	}
	c.Flags().BoolVar(&force, "force", false, "lose unrecorded work that is too large to keep, or go on although the tests cannot run")
	command.AddRunFlags(a, c)
	return c
}
