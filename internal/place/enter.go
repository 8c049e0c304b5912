package place

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/engine"
	"signalbox/internal/environment"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

// Place is a run's environment that a person or a session has entered.
type Place struct {
	environment.Environment
	places *Places
	run    workflow.Run
	lock   engine.Lock
	writer engine.Writer
	// Alone: no process carries the run meanwhile, and none can until Leave.
	Alone bool
}

// ErrNoEnvironment: the run has none, not yet or not any more.
var ErrNoEnvironment = errors.New("the run has no environment")

// Enter lets a person into a run's environment. While an engine carries the run they are there
// beside it; otherwise the run is held until Leave, and an environment whose folder was deleted is
// made again.
func (p *Places) Enter(ctx context.Context, run workflow.Run, owner string) (at *Place, err error) {
	at = &Place{places: p, run: run}
	at.lock, err = p.Locks.LockRequest(ctx, run.RequestID, engine.Owner{Name: owner, RunID: run.RunID})
	if err != nil && !errors.Is(err, engine.ErrHeld) {
		return nil, err
	}
	at.Alone = err == nil
	defer func() {
		if err != nil {
			err = errors.Join(err, at.Leave())
		}
	}()
	if run.Details.EnvID == "" || run.Details.EnvRemoved {
		return at, ErrNoEnvironment
	}
	enter := p.Environments.Attach
	if at.Alone {
		enter = p.Environments.Make
	}
	if at.Environment, err = enter(ctx, Spec(&run)); err != nil {
		return at, fmt.Errorf("enter environment %s: %w", run.Details.EnvID, err)
	}
	return at, nil
}

// Exec implements process.Executor with all that a command of the run gets.
func (p *Place) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Env = append(Variables(&p.run), c.Env...)
	return For(&p.run, p.Environment).Exec(ctx, c)
}

// Run is the run as it was on entering.
func (p *Place) Run() *workflow.Run { return &p.run }

// Leave lets the run go on.
func (p *Place) Leave() error {
	if p.lock == nil {
		return nil
	}
	var err error
	if p.writer != nil {
		err = p.writer.Close()
	}
	return errors.Join(err, p.lock.Release())
}
