package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/workflow"
)

func newResume(a *invocation) *cobra.Command {
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
			return a.order(c.Context(), args[0], func(r *workflow.Run) error {
				switch r.State {
				case workflow.Failed:
					return a.wrong(r, "it failed", "signalbox retry "+r.Ref())
				case workflow.Canceled:
					return a.wrong(r, "it is over", "signalbox run "+r.Ref())
				}
				if force && !r.CanBeForced() {
					return a.wrong(r, "neither work that is too large to keep nor tests that cannot run are in its way", "signalbox resume "+r.Ref())
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
	c.Flags().BoolVar(&force, "force", false, "lose unrecorded work that is too large to keep, or go on although the tests cannot run")
	a.carryFlags(c)
	return c
}
