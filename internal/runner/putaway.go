package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"signalbox/internal/environment"
	"signalbox/internal/process"
	"signalbox/internal/registry"
	"signalbox/internal/store"
)

// PutAway deletes the environment of a run that nobody carries, and its entry
// in environments.json, after everything in it is on a ref (DESIGN decision 7);
// it returns the ref, empty when there is nothing that the base branch lacks.
// A run that is not over may still be resumed: its environment is then made
// again. *store.HeldError: somebody carries the run. environment.ErrTooLarge:
// what lies there cannot be kept and force was not given; with it, only what
// was recorded is kept.
func (r *Runner) PutAway(ctx context.Context, ref store.RunRef, force bool) (kept string, err error) {
	w := &work{Runner: r, ref: ref}
	if w.request, err = r.Store.LockRequest(ctx, ref.RequestID, store.Owner{Name: "env remove", RunID: ref.RunID}); err != nil {
		return "", err
	}
	defer func() { w.logged("release request lock", w.request.Release()) }()
	if w.run, err = r.Store.Stage(ref).Load(ctx); err != nil {
		return "", fmt.Errorf("put away the environment of run %s: %w", ref, err)
	}
	if kept, err = w.putAway(ctx, force); err != nil {
		return kept, fmt.Errorf("put away the environment of run %s: %w", ref, err)
	}
	return kept, w.Store.Environments().Update(ctx, func(doc *registry.Environments) error {
		if err := doc.Remove(w.run.Journey.EnvID); !errors.Is(err, registry.ErrNoEnvironment) {
			return err
		}
		return nil
	})
}

func (w *work) putAway(ctx context.Context, force bool) (kept string, err error) {
	j := w.run.Journey
	if j.EnvID == "" || j.EnvRemoved {
		return j.KeptRef, nil
	}
	// What a killed runner left behind still writes there.
	if _, err := process.SweepOrphans(ctx, runIDVariable+"="+w.ref.RunID); err != nil {
		return "", fmt.Errorf("end processes of an earlier runner: %w", err)
	}
	commit, err := w.unrecorded(ctx)
	if errors.Is(err, environment.ErrTooLarge) && force {
		commit, err = j.Head, nil
	}
	if err != nil {
		return "", err
	}
	if commit != "" && commit != j.BaseCommit && commit != j.MergeCommit {
		kept = w.keptRef(commit)
		if err := w.keep(ctx, commit); err != nil {
			return "", fmt.Errorf("keep %.10s: %w", commit, err)
		}
	}
	return kept, w.Environments.Remove(ctx, w.spec())
}

// unrecorded is the head with what lies in the environment unrecorded on top of
// it. A folder that is gone holds nothing: made again, it would look like work
// that was taken back.
func (w *work) unrecorded(ctx context.Context) (commit string, err error) {
	j := w.run.Journey
	dir, err := w.Store.Abs(w.spec().Dir)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) || j.Head == "" {
		return j.Head, nil
	}
	env, head, err := w.left(ctx)
	if err != nil {
		return "", err
	}
	message := "Work not recorded by a run\n\nSignalbox-Request: " + w.run.RequestID + "\n"
	change, err := env.Record(ctx, head, message)
	if err == nil && !change.Changed {
		return j.Head, nil
	}
	if err == nil && j.Upon != "" {
		change, err = env.Record(ctx, j.Upon, message)
	}
	if err != nil {
		return "", fmt.Errorf("keep unrecorded work: %w", err)
	}
	return change.Commit, nil
}
