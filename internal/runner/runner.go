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
	"text/template"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/permission"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// Config is what a runner works with. All but Detect, Settings, Program, Named, MayCall, Prompts, Redact, Observe and Logger are required.
type Config struct {
	Store        *store.Store
	Repo         *git.Repo
	Forge        forge.Forge
	Environments environment.Driver
	// Detect reads what the project's files at a commit say of its environment; language is the task's, empty if it has none.
	Detect func(ctx context.Context, commit, language string) (workflow.Detection, error)
	// Settings are what the configuration says now of a run for the request; nil leaves every run its own.
	Settings func(request forge.Request) (workflow.Settings, error)
	// Agents are the agents by role. A role that is missing is skipped by the workflow.
	Agents map[workflow.Role]agent.Agent
	// Program is what a person named now to implement requests; Agents has it. Named builds the agents of
	// a run that goes on with a program which was named before; nil where there is no such run.
	Program string
	Named   func(ctx context.Context, program string) (map[workflow.Role]agent.Agent, error)
	// MayCall says for free why an agent that a run has in one of some roles could not be called where inside runs commands; an
	// *AgentError is a person's to settle. program is what a person named for the run. Nil asks nothing.
	MayCall func(ctx context.Context, program string, roles []workflow.Role, inside process.Executor) error
	// Rules answer what an agent asks without a person, by its role.
	Rules map[workflow.Role]permission.Rules
	// Prompts are the project's own prompts by role, made by PromptTemplate.
	Prompts map[workflow.Role]*template.Template
	// Isolation says what stands between a command and this machine from now on: "bubblewrap", "container" or "none".
	Isolation string
	// Ask is the command that starts a service in an environment and asks it what a health check asks.
	Ask func(workflow.HealthCheck) process.Command
	// Agreements remembers which set-ups people agreed to; nil remembers none, so that each run asks.
	Agreements Agreements
	// Commits says what the run's commits carry beside the user's name.
	Commits Commits
	// Offline: the configuration lets commands reach no network, so that none is waited for.
	Offline bool
	// PerRun is what the agents of one run may use until a person is asked; nil leaves to each run what
	// it began with. PerDay is what the agents of all runs together may use in a day (UTC).
	PerRun *workflow.Spending
	PerDay workflow.Spending
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

// Runner carries runs. It has no state of its own but the order in which its runs wait: everything is in the store.
type Runner struct {
	Config
	// prepares: runs go no further than Prepare says.
	prepares bool
	line     *line
}

// New returns a runner.
func New(c Config) *Runner {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Detect == nil {
		c.Detect = func(context.Context, string, string) (workflow.Detection, error) { return workflow.Detection{}, nil }
	}
	if c.Observe == nil {
		c.Observe = func(workflow.Run) {}
	}
	c.MaxParallel = max(c.MaxParallel, 1)
	return &Runner{Config: c, line: &line{}}
}

var (
	// ErrLost: another runner took the run over; this one stopped before it wrote anything more.
	ErrLost = errors.New("another runner has taken the run over")
	// ErrInterrupted as the cause of a canceled context: this process was told to end, by nobody who
	// wants the run to stand still.
	ErrInterrupted = fmt.Errorf("told to end: %w", context.Canceled)
	// ErrNotSaved: stage.json cannot be written or read, so nothing more is done (R14).
	ErrNotSaved = errors.New(workflow.StageWriteFailedCode)
)

// CarriedError: the file of the request's lock was removed, and a process that had the lock still carries the run.
type CarriedError struct{ PID int }

func (e *CarriedError) Error() string {
	return fmt.Sprintf("process %d still carries this run, although somebody removed its lock (.signalbox/locks)", e.PID)
}

// runIDVariable tags every process of a run, so that what a killed runner left behind is found.
const runIDVariable = "SIGNALBOX_RUN_ID"

// Carry brings a run of the request as far as it goes without a person and
// returns it as last saved. which chooses or creates the run; it is called with
// the request's lock held, so that a request never has two live runs.
// *store.HeldError: somebody else carries one at this moment. A canceled
// context stops the run as a person's "stop" does, unless its cause is ErrInterrupted.
func (r *Runner) Carry(ctx context.Context, requestID, owner string, which func(context.Context) (store.RunRef, error)) (workflow.Run, error) {
	w := &work{Runner: r, reports: make(chan workflow.AgentReported, 1), found: make(chan workflow.WorkFound), questions: make(chan *question), withdrawn: make(chan *question)}
	var err error
	if w.request, err = r.Store.LockRequest(ctx, requestID, store.Owner{Name: owner}); err != nil {
		return workflow.Run{}, err
	}
	defer func() { w.logged("release request lock", w.request.Release()) }()
	if w.ref, err = which(ctx); err != nil {
		return workflow.Run{}, err
	}
	if w.writer, w.run, err = r.Store.OpenRun(ctx, w.ref); err != nil {
		return w.run, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	defer func() { w.logged("close run", w.writer.Close()) }()
	if err := w.outrank(ctx, owner); err != nil {
		return w.run, err
	}
	if err := w.decide(ctx, workflow.Named{Program: w.Program}); err != nil {
		return w.run, err
	}
	if err := w.named(ctx); err != nil {
		return w.run, err
	}
	return w.carry(ctx)
}

// named gives the run the program that a person named for it before, unless one is named now.
func (w *work) named(ctx context.Context) error {
	program := w.run.Journey.Program
	if program == "" || w.Program != "" || w.Named == nil || w.run.State.Final() {
		return nil
	}
	agents, err := w.Named(ctx, program)
	if err != nil {
		return fmt.Errorf("go on with %q: %w", program, err)
	}
	own := *w.Runner
	own.Agents, w.Runner = agents, &own
	return nil
}

// Settle brings the documents that are read off a run up to date with one that
// is over: its runner may have died between the last save and them. The
// request's lock is held.
func (r *Runner) Settle(ctx context.Context, run workflow.Run) error {
	w := &work{Runner: r, ref: store.RefOf(&run), run: run}
	return w.project(ctx)
}

// outrank takes the lock anew when its epoch is not above the run's, which
// happens only when somebody removed the lock's file.
func (w *work) outrank(ctx context.Context, owner string) error {
	known := w.run.Journey.Epoch
	if w.request.Epoch() > known {
		return nil
	}
	starters, err := process.Starters(ctx, runIDVariable+"="+w.ref.RunID)
	if err != nil {
		return fmt.Errorf("look for another runner: %w", err)
	}
	if len(starters) > 0 {
		return &CarriedError{PID: starters[0]}
	}
	if err := w.request.Release(); err != nil {
		return fmt.Errorf("release request lock: %w", err)
	}
	lock, err := w.Store.LockRequest(ctx, w.ref.RequestID, store.Owner{Name: owner, RunID: w.ref.RunID, AfterEpoch: known})
	if err != nil {
		return err
	}
	w.request = lock
	return nil
}

func (w *work) carry(ctx context.Context) (workflow.Run, error) {
	if w.run.State.Final() {
		return w.run, w.project(ctx)
	}
	if w.run.Journey.Epoch > 0 { // it was admitted once, so that it may have started something
		// Orphans alone: what a runner that lives has started is not ours to end, whatever became of its lock.
		if _, err := process.SweepOrphans(ctx, runIDVariable+"="+w.ref.RunID); err != nil {
			w.logged("end processes of an earlier runner", err)
		}
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	if w.changes, err = w.Store.Watch(watch, w.ref.Dir()+"/stage.json"); err != nil {
		return w.run, err
	}
	if q := w.run.Journey.Question; q != nil { // whose agent is gone
		err = w.decide(ctx, workflow.Withdrawn{Question: q.ID})
	} else {
		err = w.project(ctx)
	}
	if err != nil {
		return w.run, err
	}
	err = w.live(ctx)
	return w.run, err
}

// live takes the run through orders, queue and actions until no runner can move it. A run that is
// parked comes back to the queue when its time has come.
func (w *work) live(ctx context.Context) error {
	for {
		if err := w.takeOrders(ctx); err != nil || w.run.State.Ended() {
			return err
		}
		if err := w.parked(ctx); err != nil || w.run.State.Ended() {
			return err
		}
		admitted, err := w.queue(ctx)
		if err != nil || !admitted {
			return err
		}
		err = w.loop(ctx)
		w.logged("release slot", w.slot.Release())
		if err != nil || w.run.State != workflow.Queued {
			return err
		}
	}
}

// parked waits for the time until which the run is parked, looking for orders in between.
func (w *work) parked(ctx context.Context) error {
	for w.run.State == workflow.Queued && w.run.Journey.ParkedUntil != nil {
		left := w.run.Journey.ParkedUntil.Sub(w.Clock.Now())
		if left <= 0 {
			return nil
		}
		select {
		case <-w.Clock.After(min(left, parkedPoll)):
		case <-w.changes:
			if err := w.takeOrders(ctx); err != nil {
				return err
			}
		case <-w.request.Lost():
			return ErrLost
		case <-ctx.Done():
			return w.decide(ctx, standStill(ctx))
		}
	}
	return nil
}

// parkedPoll is how often the time is looked at: a machine that slept wakes up late.
const parkedPoll = time.Minute

func (w *work) logged(doing string, err error) {
	if err != nil {
		w.Logger.Warn(doing, "run", w.ref.RunID, "err", err)
	}
}
