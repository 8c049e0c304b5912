package environments

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"signalbox/internal/app"
	"signalbox/internal/commandline"
	"signalbox/internal/environment"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Removed is what was deleted.
type Removed struct {
	EnvID string
	// OfRun: the environment itself was deleted. What another tool made is left alone, and only its entry is gone.
	OfRun bool
	// KeptRef is where git finds the work; empty where there was none.
	KeptRef string
}

// Remove deletes the environment that ref names or begins, and its entry. With force what is too large to keep is lost.
func (e *Environments) Remove(ctx context.Context, ref string, force bool) (Removed, error) {
	entry, err := Entry(&e.Environments, ref)
	if err != nil {
		return Removed{}, err
	}
	id := entry.EnvID
	run, err := runOf(ctx, e.store, id)
	if err != nil {
		return Removed{}, wire.Explained(err)
	}
	if run != nil {
		return e.removeOfRun(ctx, run, force)
	}
	err = e.store.Environments().Update(ctx, func(doc *registry.Environments) error { return doc.Remove(id) })
	return Removed{EnvID: id}, Explained(id, err)
}

// RemoveAll deletes every environment that a run made and that is still there. One that is in use stays; tell hears of each.
func (e *Environments) RemoveAll(ctx context.Context, force bool, tell func(Removed, error)) {
	for _, entry := range e.Environments.Environments {
		run, err := runOf(ctx, e.store, entry.EnvID)
		switch {
		case err != nil:
			tell(Removed{EnvID: entry.EnvID}, wire.Explained(err))
		case run != nil && !run.Details.EnvRemoved:
			tell(e.removeOfRun(ctx, run, force))
		}
	}
}

// removeOfRun deletes a run's environment once its work is on a ref.
func (e *Environments) removeOfRun(ctx context.Context, run *workflow.Run, force bool) (Removed, error) {
	id := run.Details.EnvID
	p, err := app.Open(ctx, e.opener)
	if err != nil {
		return Removed{}, err
	}
	kept, err := p.Places().Remove(ctx, workflow.RefOf(run), force)
	var held *store.HeldError
	switch {
	case errors.As(err, &held):
		err = &problem.Error{Err: fmt.Errorf("environment %s is in use by run %s: %s", id, run.Ref(), app.Holder(held.Holder)),
			Hint: "stop it first: signalbox stop " + run.Ref(), Code: problem.Held}
	case errors.Is(err, environment.ErrTooLarge):
		err = &problem.Error{Err: err, Hint: "clear out " + run.Details.EnvPath + ", or lose what is unrecorded there: signalbox env remove --force " + commandline.ShellWord(redact.Line(id, 200))}
	}
	return Removed{EnvID: id, OfRun: true, KeptRef: kept}, wire.Explained(err)
}

// runOf is the run that made the environment; nil if none did.
func runOf(ctx context.Context, s *store.Store, envID string) (*workflow.Run, error) {
	runs, err := s.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		r := &runs[i]
		if r.Err == nil && r.Run.Details.EnvID == envID {
			return &r.Run, nil
		}
		if r.Err != nil && strings.HasSuffix(envID, r.Ref.RunID) {
			return nil, r.Err
		}
	}
	return nil, nil
}
