// Package engine owns the loop: save the run with its pending actions in one
// write, perform them, report the results, repeat. It owns the queue and the
// orders of people, and refuses every decision: machine.Decide makes them.
// It knows documents and locks by interfaces, and leaves side effects to a
// Performer. Starting a run and resuming one after a crash are the same code
// path.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"signalbox/internal/workflow"
)

// Config is what an engine works with. Program, Observe and Logger are optional.
type Config struct {
	Runs      Runs
	Locks     Locks
	Performer Performer
	// Program is what a person named now to implement requests.
	Program string
	// MaxParallel is the number of slots of the project's queue.
	MaxParallel int
	Clock       Clock
	// Observe is told of every saved transition, in order, from one goroutine per run.
	Observe func(workflow.Run)
	Logger  *slog.Logger
}

// Clock is the time and the waiting for it, injected together.
type Clock struct {
	Now func() time.Time
	// After sends once, when d has passed.
	After func(d time.Duration) <-chan time.Time
}

// Engine runs runs. Its only state is the order in which its runs wait for a slot: everything else is in the documents.
type Engine struct {
	Config
	// prepares: runs go no further than Prepare says.
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
	c.MaxParallel = max(c.MaxParallel, 1)
	return &Engine{Config: c, line: &line{}}
}

var (
	// ErrLost: another engine took the run over; this one stopped before it wrote anything more.
	ErrLost = errors.New("another runner has taken the run over")
	// ErrInterrupted as the cause of a canceled context: this process was told to end, and nobody asked
	// for the run to stop.
	ErrInterrupted = fmt.Errorf("told to end: %w", context.Canceled)
	// ErrNotSaved: stage.json cannot be written or read, so nothing more is done (R14).
	ErrNotSaved = errors.New(workflow.StageWriteFailedCode)
)

// RunningError: the file of the request's lock was removed, and a process that had the lock still carries the run.
type RunningError struct{ PID int }

func (e *RunningError) Error() string {
	return fmt.Sprintf("process %d still carries this run, although somebody removed its lock (.signalbox/locks)", e.PID)
}

// Run brings a run of the request as far as it goes without a person and
// returns it as last saved. which chooses or creates the run; it's called with
// the request's lock held, so that a request never has two live runs.
// ErrHeld: another process carries one at this moment. A canceled context stops
// the run as a person's "stop" does, unless its cause is ErrInterrupted.
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
	return x.carry(ctx)
}

// Settle brings what others read of a run up to date with one that is over: its
// engine may have died between the last save and that. The request's lock is held.
func (e *Engine) Settle(ctx context.Context, run workflow.Run) error {
	return e.project(ctx, run)
}

func (e *Engine) project(ctx context.Context, run workflow.Run) error {
	if err := e.Performer.Project(ctx, run); err != nil {
		return fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	return nil
}

// outrank takes the lock anew when its epoch is not above the run's, which
// happens only if the lock's file was removed.
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

func (x *execution) carry(ctx context.Context) (workflow.Run, error) {
	if x.run.State.Final() {
		return x.run, x.project(ctx, x.run)
	}
	if x.run.Details.Epoch > 0 { // it was admitted once, so that it may have started something
		x.logged("end processes of an earlier engine", x.Performer.Sweep(ctx, x.run))
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	if x.changes, err = x.Runs.WatchRun(watch, x.ref); err != nil {
		return x.run, err
	}
	if q := x.run.Details.Question; q != nil { // its agent is gone
		err = x.decide(ctx, workflow.Withdrawn{Question: q.ID})
	} else {
		err = x.project(ctx, x.run)
	}
	if err != nil {
		return x.run, err
	}
	err = x.live(ctx)
	return x.run, err
}

// live takes the run through orders, queue and actions until no engine can move it. A run that is
// parked comes back to the queue when its time has come.
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

// parked waits for the time until which the run is parked, looking for orders in between.
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

// parkedPoll is how often the time is looked at: a machine that slept wakes up late.
const parkedPoll = time.Minute

func (x *execution) logged(doing string, err error) {
	if err != nil {
		x.Logger.Warn(doing, "run", x.ref.RunID, "err", err)
	}
}
