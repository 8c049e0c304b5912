package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/workflow"
)

func newApprove(a *invocation) *cobra.Command {
	var commit string
	var noRun bool
	c := &cobra.Command{
		Use:   "approve RUN",
		Short: "Approve the change of a waiting run, so that it's merged",
		Long: "Agree to exactly the commit that the run shows. If the change moves afterwards, the approval is void and the\n" +
			"run asks again.",
		Example: "  signalbox approve 42\n  signalbox approve 42 --commit 1f2e3d4c5b",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			check := func(r *workflow.Run) error {
				if r.State != workflow.NeedsInput || r.Journey.Phase != workflow.ApprovalWait {
					return a.wrong(r, "it does not wait for approval", "signalbox status "+r.Ref())
				}
				if commit != "" && (len(commit) < 7 || len(commit) > len(r.Journey.Head) || r.Journey.Head[:len(commit)] != commit) {
					return a.wrong(r, fmt.Sprintf("the change is %.10s, not %s", r.Journey.Head, commit), "look at it again: signalbox status "+r.Ref())
				}
				return nil
			}
			change := func(r *workflow.Run, s *workflow.Signals) {
				s.Commands = append(s.Commands, personal(workflow.CommandApprove, r.Journey.Head, ""))
			}
			return a.orderOrLeave(c.Context(), args[0], noRun, check, change)
		},
	}
	c.Flags().StringVar(&commit, "commit", "", "refuse unless the change is this commit (at least 7 digits)")
	c.Flags().BoolVar(&noRun, "no-run", false, "only leave the approval; the next \"signalbox resume\" takes it")
	a.carryFlags(c)
	return c
}
