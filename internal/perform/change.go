package perform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"signalbox/internal/environment"
	"signalbox/internal/git"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

// recordChange records the environment's content as one commit on the step's base, and writes its patch.
func (x *execution) recordChange(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	env, err := x.environment(ctx)
	if err != nil {
		return nil, err
	}
	base := x.run.Details.StepBase
	change, err := env.Record(ctx, base, x.Redact.Text(x.commitMessage(ctx, a)))
	if errors.Is(err, environment.ErrTooLarge) {
		return workflow.ChangeRefused{Outcome: o, Problems: []string{x.clean(err.Error())}, TooLarge: true}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("record change of %s: %w", a.StepID, err)
	}
	x.presence.Content = change.Commit
	event := workflow.ChangeRecorded{Outcome: o, Commit: base}
	if event.Unresolved, err = x.unresolved(ctx, change.Commit); err != nil || !change.Changed {
		return event, err
	}
	event.Commit = change.Commit
	changes, err := x.Repo.Changes(ctx, base, change.Commit)
	if err != nil {
		return nil, fmt.Errorf("read change of %s: %w", a.StepID, err)
	}
	event.Files = x.fileChanges(changes)
	if refused, err := x.movesSubmodules(ctx, env, event); err != nil {
		return nil, fmt.Errorf("find submodules of the change: %w", err)
	} else if len(refused) > 0 {
		return workflow.ChangeRefused{Outcome: o, Problems: refused}, nil
	}
	if event.Whole, event.Concerns, event.Tests, err = x.wholeFacts(ctx, change.Commit); err != nil {
		return nil, err
	}
	event.PatchPath, err = x.Artifacts.WritePatch(workflow.RefOf(&x.run), a.StepID+".patch", func(out io.Writer) error {
		masked := x.Redact.Writer(out)
		return errors.Join(x.Repo.Patch(ctx, base, change.Commit, masked), masked.Close())
	})
	return event, err
}

// hasSubmodules is an environment that can tell whether it can have the submodules of a commit.
type hasSubmodules interface {
	Submodules(ctx context.Context, commit string) error
}

// movesSubmodules returns why a change that moves submodules is refused: its tests need the files of the new commits.
func (x *execution) movesSubmodules(ctx context.Context, env environment.Environment, e workflow.ChangeRecorded) (refused []string, err error) {
	asked, ok := env.(hasSubmodules)
	if !ok || !slices.ContainsFunc(e.Files, func(f policy.FileChange) bool { return f.NewMode == git.Gitlink || f.Path == ".gitmodules" }) {
		return nil, nil
	}
	err = asked.Submodules(ctx, e.Commit)
	if missing := (*environment.SubmoduleError)(nil); errors.As(err, &missing) && !missing.Passing {
		for _, problem := range missing.Problems {
			refused = append(refused, x.clean(problem))
		}
		return refused, nil
	}
	return nil, err
}

func (x *execution) fileChanges(changes []git.Change) (files []policy.FileChange) {
	for _, c := range changes {
		shown := x.Redact.String(c.Path)
		if shown == c.Path {
			shown = ""
		}
		files = append(files, policy.FileChange{Path: c.Path, Shown: shown, OldMode: c.OldMode, NewMode: c.NewMode,
			Added: c.Added, Deleted: c.Deleted, Size: c.Size})
	}
	return files
}
