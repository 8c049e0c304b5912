package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/forge"
)

// CheckName is the name of this forge's only check.
const CheckName = "tests"

// Checks returns the verdict on the merge candidate. It runs the tests only if this tree has no verdict:
// another message or date of a commit needs no second test of the same files.
func (f *Forge) Checks(ctx context.Context, number int) (forge.Check, error) {
	p, err := f.loadPull(ctx, number)
	if err != nil {
		return forge.Check{}, err
	}
	// The candidate merges the head with the present base, and moves no ref.
	base, tree, err := f.mergeTree(ctx, p)
	if err != nil {
		return forge.Check{}, fmt.Errorf("check the change: %w", err)
	}
	message := fmt.Sprintf("Candidate of pull request %d\n", number)
	commit, err := f.repo.CommitTree(ctx, tree, []string{base, p.Head}, message, candidates, f.now())
	if err != nil {
		return forge.Check{}, fmt.Errorf("check the change: commit the candidate: %w", err)
	}
	check, known := verdictOn(p.Checks, tree)
	if !known {
		candidate := Candidate{Pull: number, Request: p.Request, Base: base, Head: p.Head, Tree: tree, Commit: commit}
		if check, err = f.check(ctx, candidate); err != nil {
			return forge.Check{}, fmt.Errorf("check the change: %w", err)
		}
	}
	check.Base, check.Head = base, p.Head
	return check, nil
}

// BranchCheck returns the newest verdict on exactly the branch's present content, from any pull request.
func (f *Forge) BranchCheck(ctx context.Context, branch string) (last forge.Check, err error) {
	head, err := f.repo.Resolve(ctx, branchRef(branch))
	if err != nil {
		return last, fmt.Errorf("find branch %q: %w", branch, err)
	}
	tree, err := f.repo.TreeOf(ctx, head)
	if err != nil {
		return last, fmt.Errorf("find content of branch %q: %w", branch, err)
	}
	all, err := f.pulls(ctx)
	if err != nil {
		return last, err
	}
	for _, p := range all {
		if check, known := verdictOn(p.Checks, tree); known && check.At.After(last.At) {
			last = check
		}
	}
	if last.Tree == "" {
		return last, fmt.Errorf("checks of branch %q: %w", branch, forge.ErrNoChecks)
	}
	return last, nil
}

// check runs the tests and records their verdict, unless it is unsettled. If another process recorded a
// verdict on the same tree meanwhile, that one counts.
func (f *Forge) check(ctx context.Context, candidate Candidate) (check forge.Check, err error) {
	verdict, err := f.test(ctx, candidate)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return check, err
		}
		// Interrupted tests say nothing about the candidate, whatever they reported.
		verdict.Passed, verdict.Known, verdict.Unsettled = false, nil, true
		doing, _, _ := strings.Cut(err.Error(), ": "+context.DeadlineExceeded.Error())
		verdict.Summary = "the time for checks (limits.checks_total) was over before they ended: " + doing
	}
	check = forge.Check{
		Name: CheckName, Base: candidate.Base, Head: candidate.Head, Tree: candidate.Tree, State: forge.CheckFailed,
		Command: verdict.Command, LogPath: verdict.LogPath, Summary: verdict.Summary,
		DurationMS: verdict.Duration.Milliseconds(), At: f.now().UTC(), Known: verdict.Known, Unsettled: verdict.Unsettled,
	}
	if check.Unsettled {
		return check, nil
	}
	if verdict.Passed {
		check.State = forge.CheckPassed
	}
	return check, f.pull(candidate.Pull).Update(ctx, func(p *pull) error {
		if recorded, known := verdictOn(p.Checks, candidate.Tree); known {
			check = recorded
			return nil
		}
		p.Checks = append(p.Checks, check)
		return nil
	})
}

// mergeTree returns the base branch's present commit and the tree of merging head into it.
func (f *Forge) mergeTree(ctx context.Context, p pull) (base, tree string, err error) {
	if base, err = f.baseAt(ctx, p.Base); err != nil {
		return "", "", err
	}
	tree, conflicts, err := f.repo.MergeTree(ctx, base, p.Head)
	if err != nil {
		return "", "", fmt.Errorf("merge %s into %q: %w", p.Branch, p.Base, err)
	}
	if len(conflicts) > 0 {
		var names []string
		for _, path := range conflicts[:min(len(conflicts), shownConflicts)] {
			names = append(names, strconv.Quote(path)) // so that no name can hide another
		}
		if more := len(conflicts) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		return "", "", fmt.Errorf("%w: %s", forge.ErrConflict, strings.Join(names, ", "))
	}
	return base, tree, nil
}

// shownConflicts is how many files in conflict an error names.
const shownConflicts = 20

// verdictOn returns the verdict on exactly this tree, if there is one.
func verdictOn(checks []forge.Check, tree string) (forge.Check, bool) {
	i := slices.IndexFunc(checks, func(c forge.Check) bool { return c.Tree == tree })
	if i < 0 {
		return forge.Check{}, false
	}
	return checks[i], true
}
