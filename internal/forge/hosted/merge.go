package hosted

import (
	"context"
	"errors"
	"fmt"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/redact"
)

// A server that notices a pushed merge by itself gets this long to show it.
const (
	showTries = 20
	showEvery = 500 * time.Millisecond
)

// Merge merges in the way that the server's rules and the configuration allow. What the server merged already is only recorded.
func (f *Forge) Merge(ctx context.Context, number int, checked forge.Check, message string) (forge.PullRequest, error) {
	pr, p, err := f.look(ctx, number)
	var untested error
	switch {
	case err != nil:
	case pr.State != forge.Closed && p.State == forge.Merged, pr.State == forge.Merged:
		pr, err = f.Git.RecordMerge(ctx, number, p.MergeCommit)
		if errors.Is(err, forge.ErrUntested) {
			untested, err = err, nil
			if queued, unread := f.queued(number).Load(ctx); unread == nil && queued.Head == pr.Head { // the queue tested what it merged
				untested = nil
			}
			if others, unknown := f.othersMerge(ctx, pr); unknown == nil && others { // they answer for it, and nobody here can revert it
				f.Logger.WarnContext(ctx, "others merged a tree that was not tested here", "pull request", number, "commit", pr.MergeCommit)
				untested = nil
			}
		}
	case pr.State == forge.Closed || p.State == forge.Closed:
		err = forge.ErrClosed
	default:
		pr, err = f.merge(ctx, pr, p, checked, forge.Defused(message))
		if errors.Is(err, forge.ErrUntested) {
			untested, err = err, nil
		}
	}
	if err == nil {
		err = f.show(ctx, pr)
	}
	if err == nil { // otherwise it is merged again, and found untested again
		err = untested
	}
	if err != nil {
		return pr, fmt.Errorf("merge pull request %d: %w", number, err)
	}
	return pr, nil
}

// merge merges a pull request that is open here and there, if its head is the checked one and the server's verdicts on it still allow it.
func (f *Forge) merge(ctx context.Context, pr forge.PullRequest, p forge.Proposal, checked forge.Check, message string) (forge.PullRequest, error) {
	if p.Head != checked.Head {
		return pr, fmt.Errorf("the forge has %q at another commit than %s: %w", pr.Branch, checked.Head, forge.ErrHeadMoved)
	}
	if p.Base != pr.Base { // the server would merge into a branch with which nothing was tested
		return pr, &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("someone changed its base from %q to %q: change it back on its page, then resume", pr.Base, redact.Line(p.Base, maxTitle))}
	}
	repository, err := f.Server.Repository(ctx)
	if err != nil {
		return pr, fmt.Errorf("ask the forge for the repository: %w", err)
	}
	if pr.Fork != "" && !repository.MayMerge {
		return pr, &forge.PendingError{Kind: forge.AwaitedMerge, For: []string{"someone who may merge it"}, LookAgain: f.lookAgain(f.Clock().Sub(pr.UpdatedAt))}
	}
	way, err := f.way(ctx, repository, pr.Base)
	if err != nil {
		return pr, err
	}
	if failed, err := f.reported(ctx, pr, checked.Head, sameLook); err != nil {
		return pr, err
	} else if len(failed) > 0 {
		return pr, fmt.Errorf("the forge's check %q failed: %w", redact.Line(failed[0].Name, maxTitle), forge.ErrNoChecks)
	}
	if way == Queue {
		return pr, f.enqueue(ctx, pr)
	}
	if way == Exact {
		merged, err := f.Git.Merge(ctx, pr.Number, checked, message)
		if errors.Is(err, forge.ErrRemoteMoved) { // Checks brings the commits in
			err = fmt.Errorf("%w: %w", forge.ErrBaseMoved, err)
		}
		return merged, err
	}
	return f.mergeGuarded(ctx, pr, checked, message)
}

// mergeGuarded has the server merge the checked head, and compares what it made with what was tested.
func (f *Forge) mergeGuarded(ctx context.Context, pr forge.PullRequest, checked forge.Check, message string) (forge.PullRequest, error) {
	return f.Git.MergeBy(ctx, pr.Number, checked, func(ctx context.Context) (string, error) {
		err := f.Server.MergeProposal(ctx, pr.Number, checked.Head, message)
		if errors.Is(err, forge.ErrNotReady) {
			now := f.Clock()
			return "", &forge.PendingError{For: []string{redact.Line(err.Error(), 2*maxTitle)}, LookAgain: f.lookAgain(now.Sub(pr.UpdatedAt))}
		}
		if err != nil {
			return "", err
		}
		p, err := f.ours(ctx, pr)
		if err == nil && p.State != forge.Merged {
			err = &forge.PendingError{For: []string{"the merge to show"}, LookAgain: f.Clock().Add(soon)}
		}
		return p.MergeCommit, err
	})
}

// show makes the server show a pull request as finished that was merged here, and then deletes its branch: in the other order, the server
// would take the deletion for the end.
func (f *Forge) show(ctx context.Context, pr forge.PullRequest) error {
	p, err := f.ours(ctx, pr)
	if err == nil && p.State == forge.Open {
		p, err = f.noticed(ctx, pr)
	}
	if err == nil && p.State == forge.Open {
		err = f.conclude(ctx, pr)
	}
	if err != nil {
		return fmt.Errorf("show it as merged: %w", err)
	}
	return f.Git.Unpublish(ctx, pr.Number)
}

// noticed waits for a server that notices by itself.
func (f *Forge) noticed(ctx context.Context, pr forge.PullRequest) (p forge.Proposal, err error) {
	repository, err := f.Server.Repository(ctx)
	if p.State = forge.Open; err != nil || !repository.SeesPushes {
		return p, err
	}
	tick := time.NewTicker(showEvery)
	defer tick.Stop()
	for range showTries {
		select {
		case <-ctx.Done():
			return p, context.Cause(ctx)
		case <-tick.C:
		}
		if p, err = f.ours(ctx, pr); err != nil || p.State != forge.Open {
			return p, err
		}
	}
	return p, nil
}

// conclude marks it as merged, or closes it with a comment that names the commit.
func (f *Forge) conclude(ctx context.Context, pr forge.PullRequest) error {
	if recorder, ok := f.Server.(forge.Recorder); ok {
		err := recorder.RecordMerge(ctx, pr.Number, pr.MergeCommit)
		if refused := (*forge.Failure)(nil); !errors.As(err, &refused) || refused.Kind != forge.Refused && refused.Kind != forge.Forbidden {
			return err
		}
	}
	if err := f.remark(ctx, forge.OnPull(pr.Number), "signalbox/merged", "Merged as "+pr.MergeCommit+"."); err != nil {
		return err
	}
	return f.Server.CloseProposal(ctx, pr.Number)
}
