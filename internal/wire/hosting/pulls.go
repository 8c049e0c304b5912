package hosting

import (
	"context"

	"signalbox/internal/forge"
)

var (
	_ forge.Forge     = (*Forge)(nil)
	_ forge.Finder    = (*Forge)(nil)
	_ forge.Branches  = (*Forge)(nil)
	_ forge.Mergeable = (*Forge)(nil)
	_ forge.Judged    = (*Forge)(nil)
	_ forge.Rerunner  = (*Forge)(nil)
)

// OpenPullRequest publishes a branch and opens its pull request on the server.
func (f *Forge) OpenPullRequest(ctx context.Context, pr forge.PullRequest) (forge.PullRequest, error) {
	b, err := f.open(ctx)
	if err != nil {
		return forge.PullRequest{}, err
	}
	opened, err := b.forge.OpenPullRequest(ctx, pr)
	return opened, b.explained(err, writePulls)
}

// PullRequest returns a pull request with the end that the server says it has.
func (f *Forge) PullRequest(ctx context.Context, number int) (forge.PullRequest, error) {
	b, err := f.open(ctx)
	if err != nil {
		return forge.PullRequest{}, err
	}
	pr, err := b.forge.PullRequest(ctx, number)
	return pr, b.explained(err, writePulls)
}

// Checks tests the merge candidate here, and reads the server's verdicts.
func (f *Forge) Checks(ctx context.Context, number int) (forge.Check, error) {
	b, err := f.open(ctx)
	if err != nil {
		return forge.Check{}, err
	}
	check, err := b.forge.Checks(ctx, number)
	return check, b.explained(err, readVerdicts)
}

// Merge merges in the way that the server and the configuration allow.
func (f *Forge) Merge(ctx context.Context, number int, checked forge.Check, message string) (forge.PullRequest, error) {
	b, err := f.open(ctx)
	if err != nil {
		return forge.PullRequest{}, err
	}
	merged, err := b.forge.Merge(ctx, number, checked, message)
	return merged, b.explained(err, writeContents)
}

// Opinions returns what is thought of a pull request on the server.
func (f *Forge) Opinions(ctx context.Context, number int) (forge.Opinions, error) {
	b, err := f.open(ctx)
	if err != nil {
		return forge.Opinions{}, err
	}
	said, err := b.forge.Opinions(ctx, number)
	return said, b.explained(err, writePulls)
}

// Reply answers in a thread of a pull request.
func (f *Forge) Reply(ctx context.Context, number int, thread, key, body string) error {
	b, err := f.open(ctx)
	if err == nil {
		err = b.explained(b.forge.Reply(ctx, number, thread, key, body), writePulls)
	}
	return err
}

// Reported looks for failed checks on a pull request's head.
func (f *Forge) Reported(ctx context.Context, number int) (forge.Check, error) {
	b, err := f.open(ctx)
	if err != nil {
		return forge.Check{}, err
	}
	check, err := b.forge.Reported(ctx, number)
	return check, b.explained(err, readVerdicts)
}

// Describe replaces the text of a pull request.
func (f *Forge) Describe(ctx context.Context, number int, body string) error {
	b, err := f.open(ctx)
	if err == nil {
		err = b.explained(b.forge.Describe(ctx, number, body), writePulls)
	}
	return err
}

// ClosePullRequest closes a pull request without a merge.
func (f *Forge) ClosePullRequest(ctx context.Context, number int) error {
	b, err := f.open(ctx)
	if err == nil {
		err = b.explained(b.forge.ClosePullRequest(ctx, number), writePulls)
	}
	return err
}

// BranchCheck implements forge.Branches.
func (f *Forge) BranchCheck(ctx context.Context, branch string) (forge.Check, error) {
	b, err := f.open(ctx)
	if err != nil {
		return forge.Check{}, err
	}
	check, err := b.forge.BranchCheck(ctx, branch)
	return check, b.explained(err, readVerdicts)
}

// PushesTo returns the path of the fork that branches are pushed to; empty if that is the repository itself, or isn't known: a run says why.
func (f *Forge) PushesTo(ctx context.Context) string {
	b, err := f.open(ctx)
	if err != nil {
		return ""
	}
	fork, err := b.forge.PushesTo(ctx)
	if err != nil {
		f.config.Logger.DebugContext(ctx, "find the fork that branches are pushed to", "err", err)
		return ""
	}
	return fork
}

// Rerun implements forge.Rerunner.
func (f *Forge) Rerun(ctx context.Context, number int, head string) ([]string, error) {
	b, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	jobs, err := b.forge.Rerun(ctx, number, head)
	return jobs, b.explained(err, rerunJobs)
}

// MayMerge implements forge.Mergeable.
func (f *Forge) MayMerge(ctx context.Context, base string) error {
	b, err := f.open(ctx)
	if err == nil {
		err = b.explained(b.forge.MayMerge(ctx, base), writeContents)
	}
	return err
}
