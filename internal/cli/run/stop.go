package run

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
)

func newStop(a *command.Invocation) *cobra.Command {
	var cancel bool
	c := &cobra.Command{
		Use:  "stop RUN",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			a.Opener.WithoutAgents = true // a run can be stopped whatever else is agreed to
			err := order(c.Context(), a, args[0], app.Stop(cancel))
			if code := problem.CodeOf(err); err != nil && (code == problem.NeedsInput && !cancel || code == problem.Canceled) {
				return nil // stopped is what was asked for
			}
			return err
		},
	}
	c.Flags().BoolVar(&cancel, "cancel", false, "give the run up; its work is kept on a ref")
	command.AddRunFlags(a, c)
	return c
}
