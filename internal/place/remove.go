package place

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/environment"
	"signalbox/internal/process"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// Remove deletes the environment of a run that no process executes, and its entry in environments.json. It first saves
// everything in it on a ref (DESIGN decision 7) and returns that ref, empty if the base branch lacks nothing. A run
// that isn't over may still be resumed; it then gets a new environment. engine.ErrHeld: a process executes the run.
// environment.ErrTooLarge: the unrecorded work can't be saved. With force, only recorded work is saved.
func (p *Places) Remove(ctx context.Context, ref workflow.RunRef, force bool) (kept string, err error) {
	lock, run, err := p.hold(ctx, ref, "env remove")
	if err != nil {
		return "", err
	}
	defer func() { p.logged("release request lock", &run, lock.Release()) }()
	j := run.Details
	if kept = j.KeptRef; j.EnvID != "" && !j.EnvRemoved {
		if kept, err = p.saveAndRemove(ctx, &run, force); err != nil {
			return kept, fmt.Errorf("remove the environment of run %s: %w", ref, err)
		}
	}
	return kept, p.Registry.Update(ctx, func(doc *registry.Environments) error {
		if err := doc.Remove(j.EnvID); !errors.Is(err, registry.ErrNoEnvironment) {
			return err
		}
		return nil
	})
}

func (p *Places) saveAndRemove(ctx context.Context, run *workflow.Run, force bool) (kept string, err error) {
	// Processes of a killed engine may still write there.
	if _, err := process.SweepOrphans(ctx, RunVariable+"="+run.RunID); err != nil {
		return "", fmt.Errorf("end processes of an earlier engine: %w", err)
	}
	j := run.Details
	commit, err := p.Unrecorded(ctx, run)
	if errors.Is(err, environment.ErrTooLarge) && force {
		commit, err = j.Head, nil
	}
	if err != nil {
		return "", err
	}
	if commit != "" && commit != j.BaseCommit && commit != j.MergeCommit {
		kept = KeptRef(run, commit)
		if err := p.SaveWork(ctx, run, commit); err != nil {
			return "", fmt.Errorf("save %.10s: %w", commit, err)
		}
	}
	return kept, p.Environments.Remove(ctx, Spec(run))
}
