package runner

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/environment"
	"signalbox/internal/process"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// Place is a run's environment in the hands of a person.
type Place struct {
	environment.Environment
	work *work
	// Alone: nobody carries the run meanwhile, and nobody can until Leave.
	Alone bool
}

// ErrNoEnvironment: the run has none, not yet or not any more.
var ErrNoEnvironment = errors.New("the run has no environment")

// Enter lets a person into a run's environment. While a runner carries the run they are there
// beside it; otherwise the run is held until Leave, and an environment whose folder was deleted is
// made again.
func (r *Runner) Enter(ctx context.Context, run workflow.Run, owner string) (p *Place, err error) {
	ref := store.RefOf(&run)
	w := &work{Runner: r, ref: ref, run: run}
	var held *store.HeldError
	w.request, err = r.Store.LockRequest(ctx, ref.RequestID, store.Owner{Name: owner, RunID: ref.RunID})
	if err != nil && !errors.As(err, &held) {
		return nil, err
	}
	p = &Place{work: w, Alone: held == nil}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Leave())
		}
	}()
	if w.run.Journey.EnvID == "" || w.run.Journey.EnvRemoved {
		return p, ErrNoEnvironment
	}
	enter := r.Environments.Attach
	if p.Alone {
		enter = r.Environments.Make
	}
	if p.Environment, err = enter(ctx, w.spec()); err != nil {
		return p, fmt.Errorf("enter environment %s: %w", w.run.Journey.EnvID, err)
	}
	return p, nil
}

// Exec implements process.Executor with all that a command of the run gets.
func (p *Place) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Env = append(p.work.variables(), c.Env...)
	return p.work.activated(p.Environment).Exec(ctx, c)
}

// Run is the run as it was on entering.
func (p *Place) Run() *workflow.Run { return &p.work.run }

// Leave lets the run go on.
func (p *Place) Leave() error {
	if p.work.request == nil {
		return nil
	}
	var err error
	if p.work.writer != nil {
		err = p.work.writer.Close()
	}
	return errors.Join(err, p.work.request.Release())
}
