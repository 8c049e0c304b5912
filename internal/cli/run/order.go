package run

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

// newOrders returns approve, reject, resume, retry, stop and sync.
func newOrders(a *command.Invocation) []*cobra.Command {
	var commit string
	approve := newOrder(a, "approve RUN", "approval", func([]string) app.Order { return app.Approve(commit) })
	approve.Flags().StringVar(&commit, "commit", "", "refuse unless the change is this commit (at least 7 digits)")

	reject := newOrder(a, "reject RUN REASON", "rejection", func(args []string) app.Order { return app.Reject(args[1]) })
	reject.Args = cobra.MatchAll(reject.Args, func(c *cobra.Command, args []string) error {
		if strings.TrimSpace(args[1]) == "" {
			return command.UsageError(command.UsageHint(c), "REASON is empty")
		}
		return nil
	})

	var force bool
	resume := newOrder(a, "resume RUN", "", func([]string) app.Order { return app.Resume(force) })
	resume.Flags().BoolVar(&force, "force", false, "lose unrecorded work that is too large to keep, or continue although the tests cannot run")

	var cancel bool
	stop := newOrder(a, "stop RUN", "", func([]string) app.Order { return app.Stop(cancel) })
	stop.Flags().BoolVar(&cancel, "cancel", false, "give the run up; its work is kept on a ref")
	give := stop.RunE
	stop.RunE = func(c *cobra.Command, args []string) error {
		a.Opener.WithoutAgents = true // a run can be stopped whatever else is agreed to
		err := give(c, args)
		if code := problem.CodeOf(err); err != nil && (code == problem.NeedsInput && !cancel || code == problem.Canceled) {
			return nil // it stopped, as the user asked
		}
		return err
	}
	return []*cobra.Command{approve, reject, resume, stop,
		newOrder(a, "retry RUN", "", func([]string) app.Order { return app.Retry() }),
		newOrder(a, "sync RUN", "", func([]string) app.Order { return app.Sync() })}
}

// told says what became of an order that another process obeys.
func told(verb string, o *app.Ordered) string {
	if verb == "resume" && o.Run.Details.Phase == workflow.CIWatch {
		return fmt.Sprintf("looking now: told the process that runs %s (%s)", o.Run.Ref(), app.Holder(*o.Taken))
	}
	return fmt.Sprintf("%s: told the process that runs %s (%s), and it has taken the order", verb, o.Run.Ref(), app.Holder(*o.Taken))
}

// newOrder returns a command that gives an order to a run and shows the result. If the order may be left for a later resume,
// leave is the word for it.
func newOrder(a *command.Invocation, use, leave string, order func(args []string) app.Order) *cobra.Command {
	var noRun bool
	c := &cobra.Command{
		Use: use, Args: cobra.ExactArgs(strings.Count(use, " ")),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			if noRun {
				run, err := p.LeaveOnly(c.Context(), args[0], order(args))
				if err == nil {
					a.Print("left for run %s, which continues with: %s\n", run.Ref(), commandline.For(run, workflow.VerbResume))
				}
				return err
			}
			var taken app.Ordered
			_, err = display.Watching(a, false, func(watch app.Watcher) ([]app.Result, error) {
				taken, err = p.Give(c.Context(), args[0], order(args), watch)
				return nil, err
			})
			switch {
			case err != nil:
				return err
			case taken.Taken == nil:
				return display.PrintOutcome(p, taken.Carried)
			}
			return p.Show(taken.Run, func() {
				verb, _, _ := strings.Cut(use, " ")
				p.Print("%s; follow it: signalbox watch %s\n", told(verb, &taken), taken.Run.Ref())
			})
		},
	}
	if leave != "" {
		c.Flags().BoolVar(&noRun, "no-run", false, "only leave the "+leave+"; the next \"signalbox resume\" takes it")
	}
	command.AddRunFlags(a, c)
	return c
}
