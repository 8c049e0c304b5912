package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/workflow"
)

func newRetry(a *invocation) *cobra.Command {
	c := &cobra.Command{
		Use:     "retry RUN",
		Short:   "Retry a failed run from the step that failed",
		Example: "  signalbox retry 42",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.order(c.Context(), args[0], func(r *workflow.Run) error {
				if r.State != workflow.Failed {
					return a.wrong(r, "only a failed run is retried", "signalbox status "+r.Ref())
				}
				return nil
			}, func(_ *workflow.Run, s *workflow.Signals) {
				s.Commands = append(s.Commands, personal(workflow.CommandRetry, "", ""))
			})
		},
	}
	a.carryFlags(c)
	return c
}
