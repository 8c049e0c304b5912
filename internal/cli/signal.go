package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/user"

	"github.com/spf13/cobra"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// order leaves a signal for the run and, unless a process that carries it will
// obey by itself, carries it from here.
func (a *app) order(ctx context.Context, ref string, check func(*workflow.Run) error, change func(*workflow.Run, *workflow.Signals)) error {
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	found, err := p.find(ctx, ref)
	if err != nil {
		return err
	}
	if err := check(&found.Run); err != nil {
		return err
	}
	if err := p.signal(ctx, found, change); err != nil {
		return explained(err)
	}
	holding, held, err := p.held(ctx, found.Ref.RequestID)
	if err != nil {
		return err
	}
	if held {
		return p.obeyed(ctx, found.Ref, holding)
	}
	return p.goOn(ctx, found.Ref, &found.Run)
}

func (p *project) signal(ctx context.Context, found store.RunSummary, change func(*workflow.Run, *workflow.Signals)) error {
	return p.store.Signal(ctx, found.Ref, func(s *workflow.Signals) error {
		change(&found.Run, s)
		return nil
	})
}

// obeyed waits until the process that carries the run has taken the order.
func (p *project) obeyed(ctx context.Context, ref store.RunRef, holder store.LockRecord) error {
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := p.store.Watch(watch, ref.Dir()+"/stage.json")
	if err != nil {
		return explained(err)
	}
	for {
		run, err := p.store.Stage(ref).Load(ctx)
		if err != nil {
			return explained(err)
		}
		if s := run.Signals; !s.StopRequested && !s.ResumeRequested && len(s.Commands) == 0 {
			return p.outcome([]workflow.Run{run}, []error{nil})
		}
		if _, held, err := p.held(ctx, ref.RequestID); err != nil || !held {
			return errors.Join(err, p.goOn(ctx, ref, &run))
		}
		select {
		case <-changes:
		case <-ctx.Done():
			return fmt.Errorf("the order is left for the process that carries the run (pid %d): %w", holder.PID, ctx.Err())
		}
	}
}

// personal makes an order that the published signals have no word for.
func personal(kind workflow.CommandKind, commit, text string) workflow.Command {
	by := "unknown"
	if u, err := user.Current(); err == nil {
		by = u.Username
	}
	return workflow.Command{ID: rand.Text(), Kind: kind, Commit: commit, Text: text, By: by, At: now().UTC()}
}

func newResume(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "resume RUN",
		Short:   "Go on with a run that waits for you, or whose process died",
		Long:    "Go on with a run that stopped, once what stopped it is settled. Its budgets for retries are granted anew.",
		Example: "  signalbox resume 42",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.order(c.Context(), args[0], func(r *workflow.Run) error {
				switch {
				case r.State == workflow.Failed:
					return a.wrong(r, "it failed", "signalbox retry "+r.Ref())
				case r.State.Final():
					return a.wrong(r, "it is over", "signalbox run "+r.Ref())
				}
				return nil
			}, func(_ *workflow.Run, s *workflow.Signals) { s.ResumeRequested = true })
		},
	}
	a.carryFlags(c)
	return c
}

func (a *app) wrong(r *workflow.Run, why, hint string) error {
	return &problem{err: fmt.Errorf("%w: run %s is %s: %s", errWrongState, r.Ref(), r.State, why), hint: hint}
}

func newRetry(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "retry RUN",
		Short:   "Try a failed run again, from the step at which it failed",
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

func newStop(a *app) *cobra.Command {
	var cancel bool
	c := &cobra.Command{
		Use:   "stop RUN",
		Short: "Make a run stand still within a second; with --cancel, give it up",
		Long: "Make a run stand still: its agent and commands end within a second, its place is kept, and \"signalbox resume\"\n" +
			"goes on. With --cancel the run is given up: its environment is removed, its work stays on a ref.",
		Example: "  signalbox stop 42\n  signalbox stop 42 --cancel",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			err := a.order(c.Context(), args[0], func(r *workflow.Run) error {
				switch {
				case r.State.Final():
					return a.wrong(r, "it is over", "signalbox status "+r.Ref())
				case r.State.Ended() && !cancel:
					return a.wrong(r, "it stands still already", "signalbox resume "+r.Ref()+", or give it up: signalbox stop --cancel "+r.Ref())
				}
				return nil
			}, func(_ *workflow.Run, s *workflow.Signals) {
				if cancel {
					s.Commands = append(s.Commands, personal(workflow.CommandCancel, "", ""))
					return
				}
				s.StopRequested = true
			})
			if code := codeOf(err); err != nil && (code == exitNeedsInput || code == exitCanceled) {
				return nil // stopped is what was asked for
			}
			return err
		},
	}
	c.Flags().BoolVar(&cancel, "cancel", false, "give the run up; its work is kept on a ref")
	a.carryFlags(c)
	return c
}

func newApprove(a *app) *cobra.Command {
	var commit string
	var noRun bool
	c := &cobra.Command{
		Use:   "approve RUN",
		Short: "Agree to the change that a run waits with, and let it merge",
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

func newReject(a *app) *cobra.Command {
	var noRun bool
	c := &cobra.Command{
		Use:     "reject RUN REASON",
		Short:   "Send the change back to the agent, saying what to change",
		Example: "  signalbox reject 42 \"keep the old flag as an alias\"",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			check := func(r *workflow.Run) error {
				if r.State != workflow.NeedsInput || r.Journey.Phase != workflow.ApprovalWait {
					return a.wrong(r, "it does not wait for approval", "signalbox status "+r.Ref())
				}
				return nil
			}
			return a.orderOrLeave(c.Context(), args[0], noRun, check, func(_ *workflow.Run, s *workflow.Signals) {
				s.Commands = append(s.Commands, personal(workflow.CommandReject, "", args[1]))
			})
		},
	}
	c.Flags().BoolVar(&noRun, "no-run", false, "only leave the rejection; the next \"signalbox resume\" takes it")
	a.carryFlags(c)
	return c
}

// orderOrLeave carries the run after the order, or only leaves the order.
func (a *app) orderOrLeave(ctx context.Context, ref string, leave bool, check func(*workflow.Run) error, change func(*workflow.Run, *workflow.Signals)) error {
	if !leave {
		return a.order(ctx, ref, check, change)
	}
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	found, err := p.find(ctx, ref)
	if err == nil {
		err = check(&found.Run)
	}
	if err == nil {
		err = explained(p.signal(ctx, found, change))
	}
	if err == nil {
		a.print("left for run %s; it goes on with: signalbox resume %s\n", found.Run.Ref(), found.Run.Ref())
	}
	return err
}

func newNote(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "note RUN TEXT",
		Short:   "Leave a note on a run, for people",
		Example: "  signalbox note 42 \"waiting for the API team until Thursday\"",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.open(c.Context())
			if err != nil {
				return err
			}
			found, err := p.find(c.Context(), args[0])
			if err != nil {
				return err
			}
			return explained(p.signal(c.Context(), found, func(_ *workflow.Run, s *workflow.Signals) {
				s.Notes = nil
				if args[1] != "" {
					s.Notes = &args[1]
				}
			}))
		},
	}
}
