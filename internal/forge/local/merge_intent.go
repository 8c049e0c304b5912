package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/git"
)

// merging is the intent of one merge: the base branch and its checkouts go from Old to New. It is written before anything moves, so that any
// process can complete an interrupted merge.
type merging struct {
	Old string    `json:"old"`
	New string    `json:"new"`
	At  time.Time `json:"at"`
}

// errAbandoned: a merge was given up. Its pull request is open as before and blocks no other merge.
var errAbandoned = errors.New("the merge was given up")

// finish completes a recorded intent from wherever it was interrupted.
//
// The remote is pushed first. In the other order the merge would be visible here while the remote might still refuse it, and undoing it would
// remove commits that others had built on. If the remote refuses, nothing has changed. If the process is killed between the two, the intent says
// what was pushed: pushing it again changes nothing, and the local branch follows. One case is left: someone commits to the local base branch in
// that moment. Then the branches have diverged, as after any other person's push; nothing is lost, and a pull resolves it.
func (f *Forge) finish(ctx context.Context, p pull) error {
	ref, intent := branchRef(p.Base), p.Merging
	present, err := f.repo.Resolve(ctx, ref)
	if err != nil {
		return fmt.Errorf("find base branch %q: %w", p.Base, err)
	}
	switch present {
	case intent.Old:
		if err := f.advance(ctx, p); err != nil {
			return err
		}
		present = intent.New
	case intent.New:
		f.repo.ReleaseMoved(ctx, ref)
	}
	if present == intent.New {
		if err := f.repo.SyncCheckout(ctx, ref, intent.Old, intent.New); err != nil {
			return fmt.Errorf("%q is merged and its checkout does not follow: %w", p.Base, inTheWay(err))
		}
		return f.recordMerge(ctx, p.Number, intent.New)
	}
	// The branch has moved on since; its checkout is no longer ours to update.
	contained, err := f.repo.IsAncestor(ctx, intent.New, present)
	if err != nil {
		return fmt.Errorf("look for the merge on %q: %w", p.Base, err)
	}
	if contained {
		return f.recordMerge(ctx, p.Number, intent.New)
	}
	return f.abandon(ctx, p, forge.ErrBaseMoved)
}

// advance moves the remote's base branch and then the local one to the merge commit.
func (f *Forge) advance(ctx context.Context, p pull) error {
	err := f.pushBase(ctx, p, p.Merging.New)
	if errors.Is(err, ErrRemoteMoved) || errors.Is(err, git.ErrRejected) {
		return f.abandon(ctx, p, err)
	}
	if err != nil {
		return err
	}
	err = f.repo.UpdateRef(ctx, branchRef(p.Base), p.Merging.New, p.Merging.Old)
	if errors.Is(err, git.ErrRefMoved) {
		return f.abandon(ctx, p, fmt.Errorf("%w: %w", forge.ErrBaseMoved, err))
	}
	if err != nil {
		return fmt.Errorf("move base branch %q: %w", p.Base, err)
	}
	return nil
}

// abandon deletes an intent that can't be completed any more and returns the reason.
func (f *Forge) abandon(ctx context.Context, p pull, why error) error {
	if err := f.setMerging(ctx, p.Number, nil); err != nil {
		return err
	}
	return fmt.Errorf("%w: %w", errAbandoned, why)
}

func (f *Forge) setMerging(ctx context.Context, number int, intent *merging) error {
	return f.pull(number).Update(ctx, func(p *pull) error {
		p.Merging = intent
		return nil
	})
}

func inTheWay(err error) error {
	if errors.Is(err, git.ErrCheckout) {
		return fmt.Errorf("%w: %w", forge.ErrCheckout, err)
	}
	return err
}
