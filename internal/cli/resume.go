package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/workflow"
)

func newResume(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "resume RUN",
		Short:   "Go on with a run that waits for you, or whose process died",
		Long:    "Go on with a run that stopped, once what stopped it is settled. Its budgets for retries are granted anew.",
		Example: "  signalbox resume 42",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.order(c.Context(), args[0], func(r *workflow.Run) error {
				switch r.State {
				case workflow.Failed:
					return a.wrong(r, "it failed", "signalbox retry "+r.Ref())
				case workflow.Canceled:
					return a.wrong(r, "it is over", "signalbox run "+r.Ref())
				}
				return nil // of a run that is done, what a crash may have left unsaid is said
			}, func(_ *workflow.Run, s *workflow.Signals) { s.ResumeRequested = true })
		},
	}
	a.carryFlags(c)
	return c
}
