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
	// Run is the run as it was on entering, and what a session has changed since.
	Run workflow.Run
	// Alone: no process executes the run, and none can until Leave.
	Alone  bool
	places *Places
	lock   engine.Lock
	writer engine.Writer
}

// ErrNoEnvironment: the run has no environment, not yet or no longer.
var ErrNoEnvironment = errors.New("the run has no environment")

// Enter enters a run's environment. If an engine executes the run, the visitor works beside it. Otherwise Enter
// locks the run until Leave, and makes an environment again whose folder was deleted.
func (p *Places) Enter(ctx context.Context, run workflow.Run, owner string) (at *Place, err error) {
	at = &Place{places: p, Run: run}
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

// Exec implements process.Executor with the setup and the variables of the run.
func (p *Place) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Env = append(Variables(&p.Run), c.Env...)
	return For(&p.Run, p.Environment).Exec(ctx, c)
}

// Leave unlocks the run.
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
