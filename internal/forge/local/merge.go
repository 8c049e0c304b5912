package local

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/store"
)

// turn is the document that a merging process locks. It is empty: the kernel frees the lock when its
// holder dies, and the recorded intents say what is left to do.
type turn struct{}

// serialized runs act while no other process merges, after completing every interrupted merge. Merges
// must not overlap: updating a checkout from one commit to the next is only safe if it is at the first.
func (f *Forge) serialized(ctx context.Context, act func() error) error {
	return store.Record[turn](f.store, "merges", "turn").Update(ctx, func(*turn) error {
		all, err := f.pulls(ctx)
		if err != nil {
			return err
		}
		for _, p := range all {
			if p.Merging == nil {
				continue
			}
			err := f.finish(ctx, p)
			f.log.InfoContext(ctx, "completed an interrupted merge", "pull", p.Number, "commit", p.Merging.New, "error", err)
			if err != nil && !errors.Is(err, errAbandoned) {
				return fmt.Errorf("complete the merge of %s: %w", p.Branch, err)
			}
		}
		if err := f.completeFollowing(ctx); err != nil {
			return err
		}
		return act()
	})
}

// Merge puts a tested tree on the base branch. If the base moved since the check, it still merges if the
// tree that results now has a verdict of its own; otherwise it returns ErrBaseMoved.
func (f *Forge) Merge(ctx context.Context, number int, checked forge.Check, message string) (forge.PullRequest, error) {
	var merged forge.PullRequest
	err := f.serialized(ctx, func() error {
		p, err := f.loadPull(ctx, number)
		if err != nil {
			return err
		}
		if p.State == forge.Open {
			if err := f.merge(ctx, p, checked, message); err != nil {
				return err
			}
			p, err = f.loadPull(ctx, number)
		}
		if err == nil && p.State == forge.Merged && !f.hosted {
			f.unpublish(ctx, p)
		}
		if err == nil && p.State != forge.Merged {
			err = forge.ErrClosed
		}
		merged = p.PullRequest
		return err
	})
	if err != nil {
		return forge.PullRequest{}, fmt.Errorf("merge the change: %w", err)
	}
	return merged, nil
}

// merge makes the merge commit of an open pull request and moves the base branch to it. The recorded
// intent comes before the move, so that any process can complete it.
func (f *Forge) merge(ctx context.Context, p pull, checked forge.Check, message string) error {
	commit, base, tree, err := f.mergeable(ctx, p, checked)
	if err != nil {
		return err
	}
	if commit != "" {
		return f.recordMerge(ctx, p.Number, commit)
	}
	parents := []string{base, p.Head}
	if f.identity != (git.Identity{}) {
		commit, err = f.repo.CommitTree(ctx, tree, parents, message, f.identity, f.now())
	} else {
		commit, err = f.repo.CommitAs(ctx, tree, parents, message, f.now(), f.sign)
	}
	if err != nil {
		return fmt.Errorf("commit the merge: %w", err)
	}
	if err := f.mayMove(ctx, p.Base, base, commit); err != nil {
		return err
	}
	p.Merging = &merging{Old: base, New: commit, At: f.now().UTC()}
	if err := f.setMerging(ctx, p.Number, p.Merging); err != nil {
		return err
	}
	return f.finish(ctx, p)
}

// mergeable returns the base branch's commit and the tested tree of the merge, or the commit by which
// someone merged it already.
func (f *Forge) mergeable(ctx context.Context, p pull, checked forge.Check) (merged, base, tree string, err error) {
	if checked.Head != p.Head {
		return "", "", "", fmt.Errorf("%s was checked and the head is %s by now: %w", checked.Head, p.Head, forge.ErrNoChecks)
	}
	if at, err := idOrNone(f.repo.Resolve(ctx, branchRef(p.Branch))); err != nil {
		return "", "", "", fmt.Errorf("find branch %q: %w", p.Branch, err)
	} else if at != "" && at != p.Head {
		return "", "", "", fmt.Errorf("%q is at %s and %s was offered: %w", p.Branch, at, p.Head, forge.ErrHeadMoved)
	}
	if merged, err = f.mergedByHand(ctx, p); err != nil {
		return "", "", "", fmt.Errorf("look for %s on %q: %w", p.Head, p.Base, err)
	}
	if merged != "" {
		return merged, "", "", nil
	}
	if base, tree, err = f.mergeTree(ctx, p); err != nil {
		return "", "", "", err
	}
	if check, known := verdictOn(p.Checks, tree); !known || check.State != forge.CheckPassed {
		if base == checked.Base {
			return "", "", "", fmt.Errorf("tree %s did not pass: %w", tree, forge.ErrNoChecks)
		}
		return "", "", "", fmt.Errorf("%q is at %s and the result of merging was not tested: %w", p.Base, base, forge.ErrBaseMoved)
	}
	return "", base, tree, nil
}

// mayMove reports what would keep the base branch, or a checkout of it, from going from one commit to another.
func (f *Forge) mayMove(ctx context.Context, base, from, to string) error {
	if err := inTheWay(f.repo.Unfinished(ctx, branchRef(base))); err != nil {
		return err
	}
	return inTheWay(f.repo.CheckCheckout(ctx, branchRef(base), from, to))
}

// candidates is the author of commits that no ref points to.
var candidates = git.Identity{Name: "Signalbox", Email: "signalbox@localhost"}

// mergedByHand returns the commit that already brought the head onto the base branch: a merge of it, or
// the head itself after a fast-forward. It returns "" if there is none.
func (f *Forge) mergedByHand(ctx context.Context, p pull) (string, error) {
	base, err := f.baseAt(ctx, p.Base)
	if err != nil {
		return "", err
	}
	contained, err := f.repo.IsAncestor(ctx, p.Head, base)
	if err != nil || !contained {
		return "", err
	}
	commit, err := f.repo.MergeWithSecondParent(ctx, base, p.Head)
	if errors.Is(err, git.ErrNotFound) {
		return p.Head, nil
	}
	return commit, err
}

func (f *Forge) recordMerge(ctx context.Context, number int, commit string) error {
	return f.recordServerMerge(ctx, number, commit, false)
}

func (f *Forge) recordServerMerge(ctx context.Context, number int, commit string, untested bool) error {
	return f.pull(number).Update(ctx, func(p *pull) error {
		now := f.now().UTC()
		p.State, p.MergeCommit, p.MergedAt, p.UpdatedAt = forge.Merged, commit, &now, now
		p.Merging, p.Untested = nil, untested
		return nil
	})
}
