// Package runner owns the loop: save the run with its pending actions in one
// write, perform them, report what came of it, repeat. It owns the order of
// side effects and the queue, and refuses every decision: what comes next is
// workflow.Decide's. Starting a run and resuming one after a crash are the
// same code path.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// Config is what a runner works with. All but Redact, Observe and Logger are required.
type Config struct {
	Store        *store.Store
	Repo         *git.Repo
	Forge        forge.Forge
	Environments environment.Driver
	// Agents are the agents by role. A role that is missing is skipped by the workflow.
	Agents map[workflow.Role]agent.Agent
	// MaxParallel is the number of slots of the project's queue.
	MaxParallel int
	Clock       Clock
	Redact      *redact.Redactor
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

// Runner carries runs. It has no state of its own: everything is in the store.
type Runner struct{ Config }

// New returns a runner.
func New(c Config) *Runner {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Observe == nil {
		c.Observe = func(workflow.Run) {}
	}
	c.MaxParallel = max(c.MaxParallel, 1)
	return &Runner{c}
}

var (
	// ErrLost: another runner took the run over; this one stopped before it wrote anything more.
	ErrLost = errors.New("another runner has taken the run over")
	// ErrNotSaved: stage.json cannot be written or read, so nothing more is done (R14).
	ErrNotSaved = errors.New("STAGE_WRITE_FAILED")
)

// runIDVariable tags every process of a run, so that what a killed runner left behind is found.
const runIDVariable = "SIGNALBOX_RUN_ID"

// Carry brings the run as far as it goes without a person and returns it as
// last saved. *store.HeldError: somebody else carries it at this moment. A
// canceled context stops the run as a person's "stop" does.
func (r *Runner) Carry(ctx context.Context, ref store.RunRef, owner string) (workflow.Run, error) {
	w := &work{Runner: r, ref: ref}
	lock, err := r.Store.LockRequest(ctx, ref.RequestID, store.Owner{Name: owner, RunID: ref.RunID})
	if err != nil {
		return workflow.Run{}, err
	}
	defer func() { w.logged("release request lock", lock.Release()) }()
	w.request = lock
	if w.writer, w.run, err = r.Store.OpenRun(ctx, ref); err != nil {
		return w.run, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	defer func() { w.logged("close run", w.writer.Close()) }()
	return w.carry(ctx)
}

func (w *work) carry(ctx context.Context) (workflow.Run, error) {
	if w.run.State.Final() {
		return w.run, w.project(ctx)
	}
	if _, err := process.Sweep(ctx, runIDVariable+"="+w.ref.RunID); err != nil {
		w.logged("end processes of an earlier runner", err)
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	if w.changes, err = w.Store.Watch(watch, w.ref.Dir()+"/stage.json"); err != nil {
		return w.run, err
	}
	if err := w.project(ctx); err != nil {
		return w.run, err
	}
	err = w.live(ctx)
	return w.run, err
}

// live takes the run through orders, queue and actions until no runner can move it.
func (w *work) live(ctx context.Context) error {
	if err := w.takeOrders(ctx); err != nil || w.run.State.Ended() {
		return err
	}
	admitted, err := w.queue(ctx)
	if err != nil || !admitted {
		return err
	}
	defer func() { w.logged("release slot", w.slot.Release()) }()
	return w.loop(ctx)
}

func (w *work) logged(doing string, err error) {
	if err != nil {
		w.Logger.Warn(doing, "run", w.ref.RunID, "err", err)
	}
}
