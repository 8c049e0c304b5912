package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/workflow"
)

func newResume(a *app) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that waits for you, or whose process died",
		Long: "Go on with a run that stopped, once what stopped it is settled. Its budgets for retries are granted anew.\n" +
			"Work that lies unrecorded in its environment is put on a ref first. What is too large for that stops the run, until it is\n" +
			"taken away from there, or --force says that it may be lost.",
		Example: "  signalbox resume 42\n  signalbox resume 42 --force",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.order(c.Context(), args[0], func(r *workflow.Run) error {
				switch r.State {
				case workflow.Failed:
					return a.wrong(r, "it failed", "signalbox retry "+r.Ref())
				case workflow.Canceled:
					return a.wrong(r, "it is over", "signalbox run "+r.Ref())
				}
				if force && (r.Error == nil || r.Error.ReasonCode != workflow.WorkTooLarge) {
					return a.wrong(r, "no work that is too large to keep is in its way", "signalbox resume "+r.Ref())
				}
				return nil // of a run that is done, what a crash may have left unsaid is said
			}, func(_ *workflow.Run, s *workflow.Signals) {
				s.ResumeRequested = true
				if force {
					s.Commands = append(s.Commands, personal(workflow.CommandForce, "", ""))
				}
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "also when unrecorded work in the environment is too large to keep; that work is lost")
	a.carryFlags(c)
	return c
}
