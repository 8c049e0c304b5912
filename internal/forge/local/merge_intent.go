package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/git"
)

// merging is the intent of one merge: base branch and checkouts go from Old to
// New. It is written before anything moves.
type merging struct {
	Old string    `json:"old"`
	New string    `json:"new"`
	At  time.Time `json:"at"`
}

// errAbandoned: an intent was given up and its pull request is open as before,
// so that it is in nobody's way.
var errAbandoned = errors.New("the merge was given up")

// finish carries a recorded intent to its end, from wherever it was cut off.
//
// The remote goes first. The other order would show a merge here that the
// remote may still refuse, and taking it back would pull commits away from
// whoever built on them. This way a refusal leaves everything as it was. Killed
// between the two, the intent says what was pushed, pushing it again is no
// change, and the local branch follows. What is left is somebody who commits to
// the local base branch in that very moment: then the two have diverged as
// after any push by another person, nothing is lost, and a pull settles it.
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
	// Somebody moved the branch on; its checkout is theirs.
	contained, err := f.repo.IsAncestor(ctx, intent.New, present)
	if err != nil {
		return fmt.Errorf("look for the merge on %q: %w", p.Base, err)
	}
	if contained {
		return f.recordMerge(ctx, p.Number, intent.New)
	}
	return f.abandon(ctx, p, forge.ErrBaseMoved)
}

// advance moves the remote's base branch and then ours to the merge commit.
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

// abandon forgets an intent that cannot be carried out any more and returns why.
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
