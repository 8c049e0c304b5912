package environments

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	EnvID string `json:"env_id"`
	// OfRun: the environment itself was deleted. If another tool made it, only its entry was.
	OfRun bool `json:"of_a_run"`
	// KeptRef is where git finds the work; empty if there was none.
	KeptRef string `json:"kept_ref"`
}

// Remove deletes the environment whose id is ref or begins with it, and its entry. With force it loses work that is too large to keep.
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

// RemoveAll deletes every environment that a run made, except those in use. tell hears of each.
func (e *Environments) RemoveAll(ctx context.Context, force bool, tell func(Removed, error)) {
	runs, err := e.store.Runs(ctx)
	if err != nil {
		tell(Removed{}, wire.Explained(err))
	}
	for _, r := range runs {
		if r.Err != nil {
			tell(Removed{}, wire.Explained(r.Err))
			continue
		}
		d := &r.Run.Details
		if d.EnvID == "" || d.EnvRemoved {
			continue
		}
		_, noEntry := e.Find(d.EnvID)
		dir, noFolder := e.store.Abs(d.EnvPath)
		if noFolder == nil {
			_, noFolder = os.Lstat(dir)
		}
		if noEntry == nil || noFolder == nil { // a folder may have lost its entry
			tell(e.removeOfRun(ctx, &r.Run, force))
		}
	}
}

// removeOfRun saves a run's work on a ref and deletes its environment.
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
		by, stop := "run "+run.Ref(), "signalbox stop "+run.Ref()
		if name, ok := strings.CutPrefix(held.Holder.Owner, app.SessionOwner); ok {
			by, stop = "session "+name, fmt.Sprintf("signalbox session stop %d", run.Details.Number)
		}
		err = &problem.Error{Err: fmt.Errorf("environment %s is in use by %s: %s", id, by, app.Holder(held.Holder)), Hint: "stop it first: " + stop, Code: problem.Held}
	case errors.Is(err, environment.ErrTooLarge):
		err = &problem.Error{Err: err, Hint: "clear out " + run.Details.EnvPath + ", or lose what is unrecorded there: signalbox env remove --force " + commandline.ShellWord(redact.Line(id, 200))}
	}
	return Removed{EnvID: id, OfRun: true, KeptRef: kept}, wire.Explained(err)
}

// runOf is the run that made the environment, nil if none did.
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
