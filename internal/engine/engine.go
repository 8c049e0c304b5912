// Package engine owns the loop: save the run with its pending actions in one
// write, perform them, report the results, repeat. It owns the queue and takes
// the orders of people. It refuses to decide: machine.Decide does that. It knows
// documents and locks by interfaces, and leaves side effects to a Performer.
// Starting a run and resuming one after a crash are the same code path.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"signalbox/internal/workflow"
)

// Config is what an engine needs. Program, Observe, Begun and Logger are optional.
type Config struct {
	Runs      Runs
	Locks     Locks
	Performer Performer
	// Program implements requests, by a person's choice for this process.
	Program string
	// MaxParallel is the number of slots of the project's queue.
	MaxParallel int
	Clock       Clock
	// Observe receives every saved transition, in order, from one goroutine per run.
	Observe func(workflow.Run)
	// Begun is called, more than once perhaps, when a run has a slot or waits for one. Behind the first few of a queue a
	// run has no file of its own open by then.
	Begun  func()
	Logger *slog.Logger
}

// Clock tells the time and waits.
type Clock struct {
	Now func() time.Time
	// After sends once, when d has passed.
	After func(d time.Duration) <-chan time.Time
}

// Engine executes runs. Its only state is the order in which they wait for a slot: everything else is in the documents.
type Engine struct {
	Config
	// prepares: runs stop where Prepare says.
	prepares bool
	line     *line
}

// New returns an engine.
func New(c Config) *Engine {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Observe == nil {
		c.Observe = func(workflow.Run) {}
	}
	if c.Begun == nil {
		c.Begun = func() {}
	}
	c.MaxParallel = max(c.MaxParallel, 1)
	return &Engine{Config: c, line: &line{}}
}

var (
	// ErrLost: another engine took the run over, and this one stopped before it wrote anything more.
	ErrLost = errors.New("another runner has taken the run over")
	// ErrInterrupted is the cause of a canceled context when this process has to end and no one stopped the run.
	ErrInterrupted = fmt.Errorf("told to end: %w", context.Canceled)
	// ErrNotSaved: stage.json can't be written or read, so the run stops here.
	ErrNotSaved = errors.New(workflow.StageWriteFailedCode)
)

// RunningError: the request's lock file was removed while its holder still executes the run.
type RunningError struct{ PID int }

func (e *RunningError) Error() string {
	return fmt.Sprintf("process %d still executes this run, although its lock (in .signalbox/locks) was removed", e.PID)
}

// Run takes a run of the request as far as possible without a person and returns
// it as last saved. which chooses or creates the run; the request's lock is held
// then, so a request never has two live runs. ErrHeld: another process executes
// one. A canceled context stops the run like a person's "stop", unless its cause
// is ErrInterrupted.
func (e *Engine) Run(ctx context.Context, requestID, owner string, which func(context.Context) (workflow.RunRef, error)) (workflow.Run, error) {
	x := &execution{Engine: e}
	var err error
	if x.request, err = e.Locks.LockRequest(ctx, requestID, Owner{Name: owner}); err != nil {
		return workflow.Run{}, err
	}
	defer func() { x.logged("release request lock", x.request.Release()) }()
	if x.ref, err = which(ctx); err != nil {
		return workflow.Run{}, err
	}
	if x.writer, x.run, err = e.Runs.OpenRun(ctx, x.ref); err != nil {
		return x.run, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	defer func() { x.logged("close run", x.writer.Close()) }()
	if err := x.outrank(ctx, owner); err != nil {
		return x.run, err
	}
	if err := x.decide(ctx, workflow.Named{Program: e.Program}); err != nil {
		return x.run, err
	}
	if err := e.Performer.Begin(ctx, x.run); err != nil {
		return x.run, err
	}
	return x.execute(ctx)
}

// preparing is the number of runs that may be prepared beside those that work: making an environment is short, and a
// person waits for it.
const preparing = 16

var errPrepared = errors.New("the environment is ready")

// Prepare is Run up to the run's environment, whatever the request depends on. The run stops there (NEEDS_INPUT), so
// that a session or a person can work in its environment. If it ends otherwise, it says why, as after Run.
func (e *Engine) Prepare(ctx context.Context, requestID, owner string, which func(context.Context) (workflow.RunRef, error)) (workflow.Run, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	own := *e
	own.prepares = true
	own.MaxParallel += preparing
	own.Observe = func(run workflow.Run) {
		e.Observe(run)
		if run.Details.EnvID != "" && !run.Details.EnvRemoved {
			stop(errPrepared)
		}
	}
	return own.Run(ctx, requestID, owner, which)
}

// Project updates what others read about a run. Call it, with the request's lock held, for a run that is over, too: its
// engine may have died after the last save.
func (e *Engine) Project(ctx context.Context, run workflow.Run) error {
	if err := e.Performer.Project(ctx, run); err != nil {
		return fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	return nil
}

// outrank takes the lock again if its epoch isn't above the run's, which happens only if the lock's file was removed.
func (x *execution) outrank(ctx context.Context, owner string) error {
	known := x.run.Details.Epoch
	if x.request.Epoch() > known {
		return nil
	}
	pid, err := x.Performer.Holder(ctx, x.run)
	if err != nil {
		return fmt.Errorf("look for another engine: %w", err)
	}
	if pid != 0 {
		return &RunningError{PID: pid}
	}
	if err := x.request.Release(); err != nil {
		return fmt.Errorf("release request lock: %w", err)
	}
	lock, err := x.Locks.LockRequest(ctx, x.ref.RequestID, Owner{Name: owner, RunID: x.ref.RunID, AfterEpoch: known})
	if err != nil {
		return err
	}
	x.request = lock
	return nil
}

func (x *execution) execute(ctx context.Context) (workflow.Run, error) {
	if x.run.State.Final() {
		return x.run, x.Project(ctx, x.run)
	}
	if x.run.Details.Epoch > 0 { // it was admitted once, so it may have started processes
		x.logged("end processes of an earlier engine", x.Performer.Sweep(ctx, x.run))
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	if x.changes, err = x.Runs.WatchRun(watch, x.ref); err != nil {
		return x.run, err
	}
	if q := x.run.Details.Question; q != nil { // the agent that asked is gone
		err = x.decide(ctx, workflow.Withdrawn{Question: q.ID})
	} else {
		err = x.Project(ctx, x.run)
	}
	if err != nil {
		return x.run, err
	}
	err = x.live(ctx)
	return x.run, err
}

// live takes the run through orders, queue and actions until no engine can move it. A parked run returns to the queue
// at its time.
func (x *execution) live(ctx context.Context) error {
	for {
		if err := x.takeOrders(ctx); err != nil || x.run.State.Ended() {
			return err
		}
		if err := x.parked(ctx); err != nil || x.run.State.Ended() {
			return err
		}
		admitted, err := x.queue(ctx)
		if err != nil || !admitted {
			return err
		}
		err = x.loop(ctx)
		x.logged("release slot", x.slot.Release())
		if err != nil || x.run.State != workflow.Queued {
			return err
		}
	}
}

// parked waits until a parked run's time, and takes orders meanwhile.
func (x *execution) parked(ctx context.Context) error {
	for x.run.State == workflow.Queued && x.run.Details.ParkedUntil != nil {
		left := x.run.Details.ParkedUntil.Sub(x.Clock.Now())
		if left <= 0 {
			return nil
		}
		select {
		case <-x.Clock.After(min(left, parkedPoll)):
		case <-x.changes:
			if err := x.takeOrders(ctx); err != nil {
				return err
			}
		case <-x.request.Lost():
			return ErrLost
		case <-ctx.Done():
			return x.decide(ctx, standStill(ctx))
		}
	}
	return nil
}

// parkedPoll is how often a parked run looks at the clock: timers are late on a machine that slept.
const parkedPoll = time.Minute

func (x *execution) logged(doing string, err error) {
	if err != nil {
		x.Logger.Warn(doing, "run", x.ref.RunID, "err", err)
	}
}
