package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/store"
)

// Folders of the records: of this machine's pull requests, and of a server's.
const (
	pullsFolder  = "pulls"
	hostedFolder = "proposals"
)

// pull is the record of one pull request.
type pull struct {
	forge.PullRequest
	// Published is the last id given to the remote's branch; empty before the first push.
	Published string `json:"published,omitempty"`
	// Checks are all verdicts so far, oldest first, at most one per tree.
	Checks []forge.Check `json:"checks,omitempty"`
	// Untested: a server merged it, and the tree that it made has no passed verdict.
	Untested bool `json:"untested,omitempty"`
	// Merging is a merge that was started. Any process that finds it completes it.
	Merging *merging `json:"merging,omitempty"`
}

// numbering is locked while a number is given out.
type numbering struct {
	// Last is the highest number ever given out.
	Last int `json:"last"`
}

func (f *Forge) pull(number int) *store.Document[pull] {
	return store.CheckedRecord(f.store, f.folder, strconv.Itoa(number), func(p *pull) error {
		known := p.State == forge.Open || p.State == forge.Merged || p.State == forge.Closed
		if p.Number != number || p.Key == "" || !known {
			return fmt.Errorf("it is not the record of change %d: number %d, key %q, state %q", number, p.Number, clean(p.Key), clean(string(p.State)))
		}
		return nil
	})
}

func (f *Forge) loadPull(ctx context.Context, number int) (pull, error) {
	p, err := f.pull(number).Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		err = forge.ErrNotFound
	}
	if err != nil {
		return p, fmt.Errorf("read .signalbox/%s/%d.json: %w", f.folder, number, err)
	}
	return p, nil
}

// pulls returns all records in no particular order.
func (f *Forge) pulls(ctx context.Context) ([]pull, error) {
	names, err := f.store.Records(ctx, f.folder)
	if err != nil {
		return nil, fmt.Errorf("list .signalbox/%s: %w", f.folder, err)
	}
	var all []pull
	for _, name := range names {
		number, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		p, err := f.loadPull(ctx, number)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// PullRequest returns the pull request with this number.
func (f *Forge) PullRequest(ctx context.Context, number int) (forge.PullRequest, error) {
	p, err := f.loadPull(ctx, number)
	return p.PullRequest, err
}

// PullRequestOf returns the newest pull request of a branch, or ErrNotFound.
func (f *Forge) PullRequestOf(ctx context.Context, branch string) (forge.PullRequest, error) {
	all, err := f.pulls(ctx)
	if err != nil {
		return forge.PullRequest{}, err
	}
	var newest forge.PullRequest
	for _, p := range all {
		if p.Branch == branch && p.Number > newest.Number {
			newest = p.PullRequest
		}
	}
	if newest.Number == 0 {
		return newest, fmt.Errorf("find the change on branch %q: %w", branch, forge.ErrNotFound)
	}
	return newest, nil
}

// OpenPullRequest opens a pull request, or updates the one with the same key. It returns a merged or
// closed one unchanged. It records a new head only after moving and pushing the branch.
func (f *Forge) OpenPullRequest(ctx context.Context, pr forge.PullRequest) (forge.PullRequest, error) {
	if err := f.validate(ctx, &pr); err != nil {
		return forge.PullRequest{}, fmt.Errorf("offer the change: %w", err)
	}
	number, err := f.number(ctx, pr)
	if err != nil {
		return forge.PullRequest{}, fmt.Errorf("offer the change: %w", err)
	}
	p, err := f.loadPull(ctx, number)
	if err == nil && p.State == forge.Open {
		p, err = f.offer(ctx, p, pr)
	}
	if err != nil {
		return forge.PullRequest{}, fmt.Errorf("offer the change: %w", err)
	}
	return p.PullRequest, nil
}

// validate checks a pull request, and fills in its base branch.
func (f *Forge) validate(ctx context.Context, pr *forge.PullRequest) (err error) {
	pr.Title = clean(pr.Title)
	switch {
	case pr.Key == "":
		return errors.New("it has no key")
	case !git.ValidBranch(pr.Branch):
		return fmt.Errorf("branch %q is not one of ours", pr.Branch)
	case !git.ValidID(pr.Head):
		return fmt.Errorf("head %q is not a full id", pr.Head)
	}
	if pr.Base == "" {
		if pr.Base, err = f.repo.DefaultBranch(ctx); err != nil {
			return err
		}
	}
	if _, err = git.BranchRef(pr.Base); err != nil {
		return err
	}
	_, err = f.repo.Resolve(ctx, pr.Head)
	return err
}

// number returns the number of the pull request with pr's key, or gives out the next one; a server's
// comes with pr. The record exists afterwards.
func (f *Forge) number(ctx context.Context, pr forge.PullRequest) (number int, err error) {
	err = store.Record[numbering](f.store, "numbers", f.folder).Update(ctx, func(given *numbering) error {
		all, err := f.pulls(ctx)
		if err != nil {
			return err
		}
		for _, p := range all {
			if p.Key == pr.Key {
				number = p.Number
				return sameNumber(p.PullRequest, pr)
			}
			if p.Number == pr.Number {
				return sameNumber(p.PullRequest, pr)
			}
			given.Last = max(given.Last, p.Number)
		}
		if number = pr.Number; number == 0 {
			given.Last++
			number = given.Last
		}
		return f.pull(number).Update(ctx, func(p *pull) error {
			now := f.now().UTC()
			pr.Number, pr.State, pr.CreatedAt, pr.UpdatedAt = number, forge.Open, now, now
			pr.MergeCommit, pr.MergedAt = "", nil
			p.PullRequest = pr
			return nil
		})
	})
	return number, err
}

// sameNumber refuses a server's number that is another pull request's here.
func sameNumber(recorded, pr forge.PullRequest) error {
	if pr.Number == 0 || recorded.Number == pr.Number && recorded.Key == pr.Key {
		return nil
	}
	return fmt.Errorf("number %d with key %q: here, %q has number %d", pr.Number, pr.Key, clean(recorded.Key), recorded.Number)
}

// offer publishes pr's head for an open pull request and records it.
func (f *Forge) offer(ctx context.Context, p pull, pr forge.PullRequest) (pull, error) {
	switch {
	case p.Branch != pr.Branch || p.Base != pr.Base:
		return p, fmt.Errorf("it goes from %q to %q and cannot be turned into one from %q to %q", p.Branch, p.Base, pr.Branch, pr.Base)
	case p.Merging != nil && p.Head != pr.Head:
		return p, errors.New("it is being merged")
	}
	published, err := f.publish(ctx, p, pr.Head)
	if err != nil {
		return p, err
	}
	shown := ""
	if !f.hosted {
		shown = f.compareURL(ctx, pr.Base, published)
	}
	return p, f.pull(p.Number).Update(ctx, func(recorded *pull) error {
		recorded.Published, recorded.CompareURL = published, shown
		if recorded.Head != pr.Head || recorded.Title != pr.Title || recorded.Body != pr.Body {
			recorded.Head, recorded.Title, recorded.Body = pr.Head, pr.Title, pr.Body
			recorded.UpdatedAt = f.now().UTC()
		}
		p = *recorded
		return nil
	})
}

// Describe records another text of a pull request.
func (f *Forge) Describe(ctx context.Context, number int, body string) error {
	return f.pull(number).Update(ctx, func(p *pull) error {
		p.Body = body
		return nil
	})
}

// ClosePullRequest closes the pull request without merging it. The branch stays: it may hold the only
// copy of the work.
func (f *Forge) ClosePullRequest(ctx context.Context, number int) error {
	return f.serialized(ctx, func() error {
		p, err := f.loadPull(ctx, number)
		if err != nil {
			return err
		}
		if p.State == forge.Open && !f.hosted {
			defer f.unpublish(ctx, p)
		}
		return f.pull(number).Update(ctx, func(p *pull) error {
			switch p.State {
			case forge.Merged:
				return fmt.Errorf("withdraw change %d: %w", number, forge.ErrMerged)
			case forge.Open:
				p.State, p.UpdatedAt = forge.Closed, f.now().UTC()
			}
			return nil
		})
	})
}
