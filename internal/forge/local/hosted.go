package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/store"
)

// Publish pushes the branch of a pull request that may have no number yet, and returns pr with its base
// branch and, if there is a record, its number. It leaves the branch of a finished one alone.
func (f *Forge) Publish(ctx context.Context, pr forge.PullRequest) (forge.PullRequest, error) {
	if err := f.validate(ctx, &pr); err != nil {
		return pr, fmt.Errorf("publish the change: %w", err)
	}
	all, err := f.pulls(ctx)
	if err != nil {
		return pr, fmt.Errorf("publish the change: %w", err)
	}
	known := pull{PullRequest: pr}
	for _, p := range all {
		if p.Key == pr.Key {
			known, pr.Number, pr.Fork = p, p.Number, p.Fork
		}
	}
	if known.Number == 0 {
		_, err = f.publish(ctx, known, pr.Head)
	} else if known.State == forge.Open {
		_, err = f.offer(ctx, known, pr)
	}
	if err != nil {
		return pr, fmt.Errorf("publish the change: %w", err)
	}
	return pr, nil
}

// Unpublish deletes the remote's branch of a finished pull request, if it is where we left it.
func (f *Forge) Unpublish(ctx context.Context, number int) error {
	p, err := f.loadPull(ctx, number)
	if err == nil && p.State != forge.Open {
		f.unpublish(ctx, p)
	}
	return err
}

// MergeBy has a server merge a pull request, if that makes the tested tree: merge makes the merge and returns its
// commit. No other process of this project merges meanwhile, so only another machine can get between. It returns
// the errors of Merge, and those of RecordMerge.
func (f *Forge) MergeBy(ctx context.Context, number int, checked forge.Check, merge func(context.Context) (string, error)) (forge.PullRequest, error) {
	var merged forge.PullRequest
	err := f.serialized(ctx, func() error {
		p, err := f.loadPull(ctx, number)
		if err != nil {
			return err
		}
		commit := ""
		if p.State == forge.Open {
			if commit, err = f.ready(ctx, p, checked); err == nil && commit == "" {
				commit, err = merge(ctx)
			}
		}
		if err == nil {
			merged, err = f.recordServers(ctx, p, commit)
		}
		return err
	})
	if err != nil {
		return merged, fmt.Errorf("merge the change: %w", err)
	}
	return merged, nil
}

// ready reports whether the remote's base branch is the commit that a tested merge begins at, or returns the
// commit by which someone merged already.
func (f *Forge) ready(ctx context.Context, p pull, checked forge.Check) (merged string, err error) {
	merged, base, tree, err := f.mergeable(ctx, p, checked)
	if err != nil || merged != "" {
		return merged, err
	}
	there, err := f.repo.RemoteRef(ctx, Remote, branchRef(p.Base))
	if err != nil {
		return "", baseGone(p.Base, err)
	}
	if there != base {
		return "", fmt.Errorf("%q is at %s, and at %s on %q: %w", p.Base, base, there, Remote, forge.ErrBaseMoved)
	}
	candidate, err := f.repo.CommitTree(ctx, tree, []string{base, p.Head}, "Candidate\n", candidates, f.now())
	if err != nil {
		return "", fmt.Errorf("commit the candidate: %w", err)
	}
	return "", f.mayMove(ctx, p.Base, base, candidate)
}

// RecordMerge records that the server merged a pull request by commit, which the base branch here then has
// too. It returns the merged pull request with forge.ErrUntested if the commit's tree has no passed verdict.
func (f *Forge) RecordMerge(ctx context.Context, number int, commit string) (forge.PullRequest, error) {
	var merged forge.PullRequest
	err := f.serialized(ctx, func() error {
		p, err := f.loadPull(ctx, number)
		if err == nil {
			merged, err = f.recordServers(ctx, p, commit)
		}
		return err
	})
	if err != nil {
		return merged, fmt.Errorf("record the merge: %w", err)
	}
	return merged, nil
}

func (f *Forge) recordServers(ctx context.Context, p pull, commit string) (forge.PullRequest, error) {
	if p.State == forge.Open {
		if _, err := f.follow(ctx, p.Base); err != nil {
			return p.PullRequest, err
		}
		if err := f.onBase(ctx, p.Base, commit); err != nil {
			return p.PullRequest, err
		}
		tree, err := f.repo.TreeOf(ctx, commit)
		if err != nil {
			return p.PullRequest, err
		}
		check, known := verdictOn(p.Checks, tree)
		if err := f.recordServerMerge(ctx, p.Number, commit, !known || check.State != forge.CheckPassed); err != nil {
			return p.PullRequest, err
		}
		if p, err = f.loadPull(ctx, p.Number); err != nil {
			return p.PullRequest, err
		}
	}
	switch {
	case p.State != forge.Merged:
		return p.PullRequest, forge.ErrClosed
	case p.Untested:
		return p.PullRequest, fmt.Errorf("%q got %s: %w", p.Base, p.MergeCommit, forge.ErrUntested)
	}
	return p.PullRequest, nil
}

// onBase returns an error if the base branch lacks a commit that a server named.
func (f *Forge) onBase(ctx context.Context, base, commit string) error {
	at, err := f.baseAt(ctx, base)
	if err != nil {
		return err
	}
	if !git.ValidID(commit) {
		return fmt.Errorf("%q is not a full id", commit)
	}
	contained := false
	if _, err = f.repo.Resolve(ctx, commit); err == nil {
		contained, err = f.repo.IsAncestor(ctx, commit, at)
	}
	if err == nil && contained {
		return nil
	}
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return err
	}
	return fmt.Errorf("the server says that %s is on %q: %w", commit, base, forge.ErrMergeGone)
}

// following is a move of a base branch, and its checkouts, to where the remote has it. It is written before
// anything moves, so that any process can complete it.
type following struct {
	Base string `json:"base"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

func (f *Forge) following() *store.Document[following] {
	return store.Record[following](f.store, f.folder, "following")
}

// Follow brings the remote's commits of a base branch here. Commits that the remote lacks stay: then it is
// ahead. It returns forge.ErrRemoteMoved if both have commits that the other lacks, and
// forge.ErrCheckout or *forge.UnfinishedError if a person must act first.
func (f *Forge) Follow(ctx context.Context, base string) (ahead bool, err error) {
	err = f.serialized(ctx, func() error {
		ahead, err = f.follow(ctx, base)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("bring %q up to date: %w", base, err)
	}
	return ahead, nil
}

func (f *Forge) follow(ctx context.Context, base string) (ahead bool, err error) {
	ref := branchRef(base)
	at, err := f.baseAt(ctx, base)
	if err != nil {
		return false, err
	}
	there, err := f.repo.Fetch(ctx, Remote, ref)
	if err != nil || there == at {
		return false, baseGone(base, err)
	}
	if ahead, err = f.repo.IsAncestor(ctx, there, at); err != nil || ahead {
		return ahead, err
	}
	behind, err := f.repo.IsAncestor(ctx, at, there)
	if err == nil && !behind {
		err = ErrRemoteMoved
	}
	if err == nil {
		err = f.mayMove(ctx, base, at, there)
	}
	if err == nil {
		err = f.following().Update(ctx, func(move *following) error {
			*move = following{base, at, there}
			return nil
		})
	}
	if err == nil {
		err = f.repo.UpdateRef(ctx, ref, there, at)
	}
	if err != nil {
		return false, err
	}
	return false, f.completeFollowing(ctx)
}

// Tip returns the commit that the remote has of a branch, and reports whether the branch has commits here that the remote lacks.
func (f *Forge) Tip(ctx context.Context, branch string) (commit string, ahead bool, err error) {
	there, err := f.repo.RemoteRef(ctx, Remote, branchRef(branch))
	if err != nil {
		return "", false, baseGone(branch, err)
	}
	at, err := f.baseAt(ctx, branch)
	if err != nil || at == there {
		return there, false, err
	}
	if _, err := f.repo.Resolve(ctx, there); errors.Is(err, git.ErrNotFound) { // it is not fetched yet
		return there, false, nil
	}
	contained, err := f.repo.IsAncestor(ctx, at, there)
	return there, !contained, err
}

// baseGone says that the remote lacks the base branch, if that is why err.
func baseGone(base string, err error) error {
	if errors.Is(err, git.ErrNotFound) {
		return fmt.Errorf("%q lacks %q: %w", Remote, base, forge.ErrNoBase)
	}
	return err
}

// completeFollowing completes a move from wherever it was interrupted. The caller has the turn.
func (f *Forge) completeFollowing(ctx context.Context) error {
	move, err := f.following().Load(ctx)
	if errors.Is(err, fs.ErrNotExist) || err == nil && move.New == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read .signalbox/%s/following.json: %w", f.folder, err)
	}
	at, err := f.baseAt(ctx, move.Base)
	if err != nil {
		return err
	}
	if at == move.New {
		f.repo.ReleaseMoved(ctx, branchRef(move.Base))
		if err := f.repo.SyncCheckout(ctx, branchRef(move.Base), move.Old, move.New); err != nil {
			return fmt.Errorf("%q follows the remote and its checkout does not: %w", move.Base, inTheWay(err))
		}
	}
	// Otherwise nothing has moved yet, or the branch has moved on since and its checkout is no longer ours to update.
	return f.following().Update(ctx, func(done *following) error {
		*done = following{}
		return nil
	})
}

// Touched returns the paths that differ between a base branch and head, and the first of files that the base
// branch has, up to a size that no such file needs.
func (f *Forge) Touched(ctx context.Context, base, head string, files []string) (paths []string, file string, err error) {
	at, err := f.baseAt(ctx, base)
	if err != nil {
		return nil, "", err
	}
	for _, name := range files {
		text, err := f.repo.ReadBlob(ctx, at, name, maxRequestBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		file = string(text)
		break
	}
	if file == "" {
		return nil, "", nil
	}
	from, err := f.repo.MergeBase(ctx, at, head)
	if err != nil {
		return nil, "", err
	}
	changes, err := f.repo.Changes(ctx, from, head)
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	return paths, file, err
}
