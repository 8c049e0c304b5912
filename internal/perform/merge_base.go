package perform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"signalbox/internal/place"
	"signalbox/internal/workflow"
)

// mergeBase merges the base branch of now into the change, with conflict markers where the two conflict. Performed
// again after a crash it makes a commit of its own; nothing refers to the first.
func (x *execution) mergeBase(ctx context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	j := x.run.Details
	base, err := x.Repo.Resolve(ctx, "refs/heads/"+j.Base)
	if err != nil {
		return nil, fmt.Errorf("find base branch %q: %w", j.Base, err)
	}
	event := workflow.BaseMerged{Outcome: o, Base: base, Commit: j.Head}
	if within, err := x.Repo.IsAncestor(ctx, base, j.Head); err != nil || within {
		return event, err
	}
	tree, conflicts, err := x.Repo.MergeTree(ctx, j.Head, base)
	if err != nil {
		return nil, fmt.Errorf("merge %q into the change: %w", j.Base, err)
	}
	for _, path := range conflicts {
		event.Conflicts = append(event.Conflicts, x.clean(path))
	}
	message := fmt.Sprintf("Merge %s into the change\n\nSignalbox-Request: %s\n", j.Base, x.run.RequestID)
	if event.Commit, err = x.Repo.CommitTree(ctx, tree, []string{j.Head, base}, message, place.Merger, x.Clock.Now()); err != nil {
		return nil, err
	}
	if event.Whole, event.Concerns, event.Tests, err = x.wholeFacts(ctx, event.Commit); err != nil {
		return nil, err
	}
	return event, nil
}

// maxMarked is how much of a file is searched for conflict markers, in bytes.
const maxMarked = 4 << 20

// unresolved are the files that still have markers of the conflicts that the agent was to resolve.
func (x *execution) unresolved(ctx context.Context, commit string) (left []string, err error) {
	for _, path := range x.run.Details.Conflicts {
		text, err := x.Repo.ReadBlob(ctx, commit, path, maxMarked)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look for conflict markers in %q: %w", path, err)
		}
		if bytes.HasPrefix(text, []byte("<<<<<<< ")) || bytes.Contains(text, []byte("\n<<<<<<< ")) {
			left = append(left, path)
		}
	}
	return left, nil
}
