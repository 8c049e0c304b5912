package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

func newStop(a *invocation) *cobra.Command {
	var cancel bool
	c := &cobra.Command{
		Use:   "stop RUN",
		Short: "Stop a run within a second; with --cancel, give it up",
		Long: "Make a run stand still: its agent and commands end within a second, its place is kept, and \"signalbox resume\"\n" +
			"goes on. With --cancel the run is given up: its environment is removed, its work stays on a ref.",
		Example: "  signalbox stop 42\n  signalbox stop 42 --cancel",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			a.WithoutAgents = true // a run can be stopped whatever else is agreed to
			err := a.order(c.Context(), args[0], func(r *workflow.Run) error {
				switch {
				case r.State == workflow.Canceled && cancel: // what a crash may have left undone is done
				case r.State.Final():
					return a.wrong(r, "it is over", "signalbox status "+r.Ref())
				}
				return nil
			}, func(_ *workflow.Run, s *workflow.Signals) {
				if cancel {
					s.Commands = append(s.Commands, personal(workflow.CommandCancel, "", ""))
					return
				}
				s.StopRequested = true
			})
			if code := problem.CodeOf(err); err != nil && (code == problem.NeedsInput && !cancel || code == problem.Canceled) {
				return nil // stopped is what was asked for
			}
			return err
		},
	}
	c.Flags().BoolVar(&cancel, "cancel", false, "give the run up; its work is kept on a ref")
	a.carryFlags(c)
	return c
}
