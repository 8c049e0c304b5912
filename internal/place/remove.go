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

// Remove deletes the environment of a run that no process carries, and its entry
// in environments.json, after everything in it is on a ref (DESIGN decision 7).
// It returns the ref, empty if there is nothing that the base branch lacks. A
// run that isn't over may still be resumed: its environment is then made again.
// engine.ErrHeld: a process carries the run. environment.ErrTooLarge: what lies
// there cannot be kept and force was not given; with it, only what was recorded
// is kept.
func (p *Places) Remove(ctx context.Context, ref workflow.RunRef, force bool) (kept string, err error) {
	lock, run, err := p.hold(ctx, ref, "env remove")
	if err != nil {
		return "", err
	}
	defer func() { p.logged("release request lock", &run, lock.Release()) }()
	if kept, err = p.remove(ctx, &run, force); err != nil {
		return kept, fmt.Errorf("remove the environment of run %s: %w", ref, err)
	}
	return kept, p.Registry.Update(ctx, func(doc *registry.Environments) error {
		if err := doc.Remove(run.Details.EnvID); !errors.Is(err, registry.ErrNoEnvironment) {
			return err
		}
		return nil
	})
}

func (p *Places) remove(ctx context.Context, run *workflow.Run, force bool) (kept string, err error) {
	j := run.Details
	if j.EnvID == "" || j.EnvRemoved {
		return j.KeptRef, nil
	}
	// What a killed engine left behind still writes there.
	if _, err := process.SweepOrphans(ctx, RunVariable+"="+run.RunID); err != nil {
		return "", fmt.Errorf("end processes of an earlier engine: %w", err)
	}
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
			return "", fmt.Errorf("keep %.10s: %w", commit, err)
		}
	}
	return kept, p.Environments.Remove(ctx, Spec(run))
}
