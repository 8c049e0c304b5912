package app

import (
	"context"
	"fmt"

	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// mayDecide says why nobody can decide on a run's change now, nil if one can.
func mayDecide(r *workflow.Run) error {
	if !WaitsForApproval(r) {
		return Wrong(r, "it does not wait for approval", "signalbox status "+r.Ref())
	}
	return nil
}

// Approve agrees to the change of a waiting run. A commit, if one is given, has to be the one that the run shows; at least 7 digits.
func Approve(commit string) Order {
	return Order{func(r *workflow.Run) error {
		if err := mayDecide(r); err != nil {
			return err
		}
		if commit != "" && (len(commit) < 7 || len(commit) > len(r.Details.Head) || r.Details.Head[:len(commit)] != commit) {
			return Wrong(r, fmt.Sprintf("the change is %.10s, not %s", r.Details.Head, commit), "look at it again: signalbox status "+r.Ref())
		}
		return nil
	}, func(r *workflow.Run, s *workflow.Signals) {
		s.Commands = append(s.Commands, Personal(workflow.CommandApprove, r.Details.Head, ""))
	}}
}

// Reject sends the change of a waiting run back to its agent, with what to change.
func Reject(why string) Order {
	return Order{mayDecide, func(_ *workflow.Run, s *workflow.Signals) {
		s.Commands = append(s.Commands, Personal(workflow.CommandReject, "", why))
	}}
}

// Resume lets a run go on that stopped; force lets it go on against what stopped it.
func Resume(force bool) Order {
	return Order{func(r *workflow.Run) error {
		switch r.State {
		case workflow.Failed:
			return Wrong(r, "it failed", "signalbox retry "+r.Ref())
		case workflow.Canceled:
			return Wrong(r, "it is over", "signalbox run "+r.Ref())
		}
		if force && !r.CanBeForced() {
			return Wrong(r, "neither work that is too large to keep nor tests that cannot run are in its way", "signalbox resume "+r.Ref())
		}
		return nil // of a run that is done, what a crash may have left unsaid is said
	}, func(_ *workflow.Run, s *workflow.Signals) {
		s.ResumeRequested = true
		if force {
			s.Commands = append(s.Commands, Personal(workflow.CommandForce, "", ""))
		}
	}}
}

// Retry lets a failed run try again from the step that failed.
func Retry() Order {
	return Order{func(r *workflow.Run) error {
		if r.State != workflow.Failed {
			return Wrong(r, "only a failed run is retried", "signalbox status "+r.Ref())
		}
		return nil
	}, func(_ *workflow.Run, s *workflow.Signals) {
		s.Commands = append(s.Commands, Personal(workflow.CommandRetry, "", ""))
	}}
}

// Stop makes a run stand still; cancel gives it up.
func Stop(cancel bool) Order {
	return Order{func(r *workflow.Run) error {
		if r.State.Final() && (!cancel || r.State != workflow.Canceled) { // what a crash may have left undone is done
			return Wrong(r, "it is over", "signalbox status "+r.Ref())
		}
		return nil
	}, func(_ *workflow.Run, s *workflow.Signals) {
		if cancel {
			s.Commands = append(s.Commands, Personal(workflow.CommandCancel, "", ""))
			return
		}
		s.StopRequested = true
	}}
}

// sync merges the base branch, as it is now, into the change of a run that stands still.
func Sync() Order {
	return Order{func(r *workflow.Run) error {
		switch {
		case r.State.Final():
			return Wrong(r, "it is over", "signalbox status "+r.Ref())
		case r.UnderWay():
			return Wrong(r, "it is under way", "stop it first: signalbox stop "+r.Ref())
		case !r.MaySync():
			return Wrong(r, "it has no finished change yet, and goes on from today's base by itself", "signalbox status "+r.Ref())
		}
		return nil
	}, func(_ *workflow.Run, s *workflow.Signals) {
		s.Commands = append(s.Commands, Personal(workflow.CommandSync, "", ""))
	}}
}

// Note replaces the note on a run; an empty one removes it.
func (p *App) Note(ctx context.Context, ref, text string) error {
	found, err := p.Find(ctx, ref)
	if err != nil {
		return err
	}
	return wire.Explained(p.Signal(ctx, found, func(_ *workflow.Run, s *workflow.Signals) {
		s.Notes = nil
		if text != "" {
			s.Notes = &text
		}
	}))
}
