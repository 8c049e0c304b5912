package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/git"
	"signalbox/internal/workflow"
)

// KeptRef names the ref that keeps a commit which would otherwise be reachable from nowhere.
func KeptRef(run *workflow.Run, commit string) string {
	return fmt.Sprintf("%s/%s-%.10s", KeptFolder(run), run.RunID, commit)
}

// SaveWork puts a commit on its KeptRef.
func (p *Places) SaveWork(ctx context.Context, run *workflow.Run, commit string) error {
	if at, err := p.Repo.Resolve(ctx, KeptRef(run, commit)); err == nil && at == commit {
		return nil
	}
	err := p.Repo.UpdateRef(ctx, KeptRef(run, commit), commit, "")
	if errors.Is(err, git.ErrRefMoved) {
		return nil // the ref is named after the commit, so it has it already
	}
	return err
}

// KeptFolder is the folder of the refs that keep work of the run's request.
func KeptFolder(run *workflow.Run) string {
	return fmt.Sprintf("refs/signalbox/kept/%d", run.Details.Number)
}

// KeptOf returns the refs that keep work of this one run, by name.
func (p *Places) KeptOf(ctx context.Context, run *workflow.Run) ([]git.Ref, error) {
	refs, err := p.Repo.Refs(ctx, KeptFolder(run))
	return slices.DeleteFunc(refs, func(r git.Ref) bool { return !strings.HasPrefix(r.Name, KeptFolder(run)+"/"+run.RunID+"-") }), err
}

// removedWork returns the work that was saved when a run's environment was removed: the one commit that has all the others, or
// empty if nothing was saved.
func (p *Places) removedWork(ctx context.Context, run *workflow.Run) (string, error) {
	kept, err := p.KeptOf(ctx, run)
	newest := ""
	for _, ref := range kept {
		behind := false
		if newest != "" && err == nil {
			behind, err = p.Repo.IsAncestor(ctx, newest, ref.ID)
		}
		if newest == "" || behind {
			newest = ref.ID
		}
	}
	for _, ref := range kept {
		if err == nil {
			var within bool
			if within, err = p.Repo.IsAncestor(ctx, ref.ID, newest); err == nil && !within {
				err = fmt.Errorf("%w: its environment was removed, and its saved work is on several refs: see git for-each-ref %s", ErrWorkConflicts, KeptFolder(run))
			}
		}
	}
	return newest, err
}

// Left returns the run's environment as it was left, and the commit on which its content is based. An environment that was
// made before the run's base commit changed is based on the earlier one.
func (p *Places) Left(ctx context.Context, run *workflow.Run) (environment.Environment, string, error) {
	env, err := p.Environments.Make(ctx, Spec(run))
	var other *environment.OtherSpecError
	if !errors.As(err, &other) {
		return env, run.Details.Head, err
	}
	env, err = p.Environments.Make(ctx, other.Made)
	return env, other.Made.Commit, err
}

// Exists reports whether the folder of the run's environment is there.
func (p *Places) Exists(run *workflow.Run) (bool, error) {
	dir, err := filepath.Localize(Spec(run).Dir)
	if err != nil {
		return false, fmt.Errorf("environment of run %s: path %q is not inside the project: %w", run.RunID, Spec(run).Dir, err)
	}
	_, err = os.Lstat(filepath.Join(p.Repo.Root(), dir))
	return !errors.Is(err, fs.ErrNotExist), nil
}

// Unrecorded returns the run's head with the environment's unrecorded work on top. A missing folder has none: made again, it
// would look as if the work had been undone.
func (p *Places) Unrecorded(ctx context.Context, run *workflow.Run) (commit string, err error) {
	j := run.Details
	if exists, err := p.Exists(run); err != nil || !exists || j.Head == "" {
		return j.Head, err
	}
	env, head, err := p.Left(ctx, run)
	if err != nil {
		return "", err
	}
	message := "Work not recorded by a run\n\nSignalbox-Request: " + run.RequestID + "\n"
	change, err := env.Record(ctx, head, message)
	if err == nil && !change.Changed {
		return j.Head, nil
	}
	if err == nil && j.SessionBase != "" {
		change, err = env.Record(ctx, j.SessionBase, message)
	}
	if err != nil {
		return "", fmt.Errorf("save unrecorded work: %w", err)
	}
	return change.Commit, nil
}
