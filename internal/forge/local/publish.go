package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"signalbox/internal/forge"
	"signalbox/internal/git"
)

// Remote is the name of the remote that branches and merges are pushed to, if the repository has it. Branches may go to a fork instead.
const Remote = "origin"

// probe is a branch that no one has. Whether it may be pushed says whether any other may.
const probe = "refs/heads/signalbox/0-may-push"

var (
	// ErrBranchMoved: a pull request's branch has commits that the offered head lacks. Moving the branch
	// would lose them.
	ErrBranchMoved = errors.New("the branch has other commits")
	// ErrRemoteMoved: the remote's base branch has commits that ours lacks. A person pulls them; then the
	// merge can be checked and made again.
	ErrRemoteMoved = fmt.Errorf("%w (remote %q)", forge.ErrRemoteMoved, Remote)
)

// publish moves the pull request's branch to head, here and on the remote. It returns the id that the
// remote then has; empty without a remote.
func (f *Forge) publish(ctx context.Context, p pull, head string) (string, error) {
	ref := branchRef(p.Branch)
	present, err := idOrNone(f.repo.Resolve(ctx, ref))
	if err != nil {
		return "", fmt.Errorf("find branch %q: %w", p.Branch, err)
	}
	if present != head {
		if err := f.replaceable(ctx, present, head, p.Head); err != nil {
			return "", fmt.Errorf("move branch %q: %w", p.Branch, err)
		}
		if err := f.repo.UpdateRef(ctx, ref, head, present); err != nil {
			return "", fmt.Errorf("move branch %q: %w", p.Branch, err)
		}
	}
	there, err := f.publishes(ctx, p.PullRequest)
	if err != nil || !there {
		return "", err
	}
	to, err := f.remoteOf(ctx, p.Fork)
	if err != nil {
		return "", err
	}
	pushed, err := idOrNone(f.repo.RemoteRef(ctx, to, ref))
	if err != nil || pushed == head {
		return head, err
	}
	if err := f.replaceable(ctx, pushed, head, p.Published); err != nil {
		return head, fmt.Errorf("push branch %q to %q: %w", p.Branch, cmp.Or(p.Fork, Remote), err)
	}
	return head, f.repo.Push(ctx, to, git.Push{Ref: ref, ID: head, Old: pushed})
}

// remoteOf returns what git pushes a branch to.
func (f *Forge) remoteOf(ctx context.Context, fork string) (string, error) {
	switch {
	case fork == "":
		return Remote, nil
	case f.forks == nil:
		return "", fmt.Errorf("find the fork %q: %w", fork, forge.ErrRemote)
	}
	return f.forks(ctx, fork)
}

// compareURL returns the page of the remote's forge that shows the published change; empty if there is
// none. Both commits are on the remote, and stay there when the branch is deleted.
func (f *Forge) compareURL(ctx context.Context, base, published string) string {
	remote, err := f.repo.Remote(ctx, Remote)
	if err != nil || published == "" || forge.CompareURL(remote.URL, published, published) == "" {
		return ""
	}
	at, err := f.baseAt(ctx, base)
	if err == nil {
		at, err = f.repo.MergeBase(ctx, at, published)
	}
	if err != nil {
		return ""
	}
	return forge.CompareURL(remote.URL, at, published)
}

// unpublish deletes the remote's branch of a finished pull request, if it is where we left it. A branch
// that stays is only untidy.
func (f *Forge) unpublish(ctx context.Context, p pull) {
	if p.Published == "" || f.hidden {
		return
	}
	from, err := f.remoteOf(ctx, p.Fork)
	if err == nil {
		err = f.repo.DeleteRemoteRef(ctx, from, branchRef(p.Branch), p.Published)
	}
	if err != nil && !errors.Is(err, git.ErrRefMoved) {
		f.log.WarnContext(ctx, "the remote's branch stays; delete it: git push "+cmp.Or(from, Remote)+" --delete "+p.Branch, "err", err)
		return
	}
	err = f.pull(p.Number).Update(ctx, func(p *pull) error {
		p.Published = ""
		return nil
	})
	if err != nil {
		f.log.WarnContext(ctx, "record that the remote's branch is deleted", "err", err)
	}
}

// publishes reports whether a pull request is pushed. A run that was started without pushing stays that
// way until its merge: its approval said so, and may come from a process with other settings.
func (f *Forge) publishes(ctx context.Context, pr forge.PullRequest) (bool, error) {
	if f.hidden || pr.Unpublished {
		return false, nil
	}
	_, err := f.repo.Remote(ctx, Remote)
	if errors.Is(err, git.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// idOrNone converts a missing ref into an empty id.
func idOrNone(id string, err error) (string, error) {
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	return id, err
}

// replaceable returns nil if a branch may move from present to next: there is no branch yet, it is where
// we put it (ours), or it is part of next's history.
func (f *Forge) replaceable(ctx context.Context, present, next, ours string) error {
	if present == "" || present == ours {
		return nil
	}
	if _, err := f.repo.Resolve(ctx, present); err != nil {
		if errors.Is(err, git.ErrNotFound) {
			return ErrBranchMoved
		}
		return err
	}
	contained, err := f.repo.IsAncestor(ctx, present, next)
	if err == nil && !contained {
		err = ErrBranchMoved
	}
	return err
}

// MayMerge implements forge.Mergeable.
func (f *Forge) MayMerge(ctx context.Context, base string) error {
	ref := branchRef(base)
	at, err := f.baseAt(ctx, base)
	if err != nil {
		return err
	}
	if err := inTheWay(f.repo.Unfinished(ctx, ref)); err != nil {
		return err
	}
	there, err := f.publishes(ctx, forge.PullRequest{})
	if err != nil || !there {
		return err
	}
	err = f.repo.MayPush(ctx, Remote, ref, at)
	if errors.Is(err, git.ErrRefMoved) { // a merge moves the remote's branch before ours: look again between two merges
		err = f.serialized(ctx, func() error {
			if at, err = f.repo.Resolve(ctx, ref); err != nil {
				return err
			}
			return f.repo.MayPush(ctx, Remote, ref, at)
		})
	}
	switch {
	case errors.Is(err, git.ErrRefMoved):
		return fmt.Errorf("push %q: %w", base, ErrRemoteMoved)
	case err != nil:
		return fmt.Errorf("%w: %w", forge.ErrRemote, err)
	}
	return nil
}

// MayOffer reports what would refuse a pull request from a fork whose merge is others' to make: ErrNoBase, or ErrRemote. It changes nothing.
func (f *Forge) MayOffer(ctx context.Context, fork, base string) error {
	at, err := f.baseAt(ctx, base)
	if err != nil {
		return err
	}
	to, err := f.remoteOf(ctx, fork)
	if err == nil {
		err = f.repo.MayPush(ctx, to, probe, at)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", forge.ErrRemote, err)
	}
	return nil
}
