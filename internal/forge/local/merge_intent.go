package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/git"
)

// merging is the intent of one merge: the base branch and its checkouts go from Old to New. It is written
// before anything moves, so that any process can complete an interrupted merge.
type merging struct {
	Old string    `json:"old"`
	New string    `json:"new"`
	At  time.Time `json:"at"`
}

// errAbandoned: a merge was given up. Its pull request is open as before and blocks no other merge.
var errAbandoned = errors.New("the merge was given up")

// finish completes a recorded intent from wherever it was interrupted.
//
// The remote comes first. In the other order the merge would be visible here while the remote might still
// refuse it, and undoing it would remove commits that others had built on. If the remote refuses, nothing
// has changed. If the process is killed between the two, the intent says what was pushed: pushing it
// again changes nothing, and the local branch follows. One case is left: a person commits to the local
// base branch at that moment. Then the branches have diverged, as after any other push; nothing is lost,
// and a pull resolves it.
func (f *Forge) finish(ctx context.Context, p pull) error {
	ref, intent := branchRef(p.Base), p.Merging
	present, err := f.baseAt(ctx, p.Base)
	if err != nil {
		return err
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

// advance moves the remote's base branch and then the local one to the merge commit, if that loses
// nothing on either. If the remote lacks commits of our base branch, it gets them too: the pull request's
// branch already contained them.
func (f *Forge) advance(ctx context.Context, p pull) error {
	ref, intent := branchRef(p.Base), p.Merging
	there, err := f.publishes(ctx, p.PullRequest)
	if err != nil {
		return err
	}
	if there {
		present, err := idOrNone(f.repo.RemoteRef(ctx, Remote, ref))
		if err == nil && present != intent.New {
			if err = f.replaceable(ctx, present, intent.New, ""); err == nil {
				err = f.repo.Push(ctx, Remote, git.Push{Ref: ref, ID: intent.New, Old: present})
			}
		}
		switch {
		case errors.Is(err, ErrBranchMoved) || errors.Is(err, git.ErrRefMoved):
			return f.abandon(ctx, p, fmt.Errorf("push %q: %w", p.Base, ErrRemoteMoved))
		case errors.Is(err, git.ErrRejected):
			return f.abandon(ctx, p, err)
		case err != nil:
			return err
		}
	}
	err = f.repo.UpdateRef(ctx, ref, intent.New, intent.Old)
	if errors.Is(err, git.ErrRefMoved) {
		return f.abandon(ctx, p, fmt.Errorf("%w: %w", forge.ErrBaseMoved, err))
	}
	if err != nil {
		return fmt.Errorf("move base branch %q: %w", p.Base, err)
	}
	return nil
}

// abandon deletes an intent that can no longer be completed, and returns the reason.
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
	if half := (*git.UnfinishedError)(nil); errors.As(err, &half) {
		return &forge.UnfinishedError{Command: half.What, Lock: half.Lock, Err: err}
	}
	if errors.Is(err, git.ErrCheckout) {
		return fmt.Errorf("%w: %w", forge.ErrCheckout, err)
	}
	return err
}
