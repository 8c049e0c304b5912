package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"time"

	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Order is something that a person asks of a run.
type Order struct {
	// may says why it can't be asked now, nil if it can.
	may func(*workflow.Run) error
	// leave leaves it for the process that carries the run.
	leave func(*workflow.Run, *workflow.Signals)
}

// Ordered is what became of an order. Either a process that carried the run took it, or the run was carried from here.
type Ordered struct {
	Carried []Result
	// Taken is who took it, nil if the run was carried from here; Run is the run then.
	Taken *store.LockRecord
	Run   workflow.Run
}

// Give leaves an order for the run that ref names and, unless a process that carries it will obey by itself, carries it from here.
func (p *App) Give(ctx context.Context, ref string, o Order, watch Watcher) (Ordered, error) {
	found, err := p.Find(ctx, ref)
	if err != nil {
		return Ordered{}, err
	}
	if err := o.may(&found.Run); err != nil {
		return Ordered{}, err
	}
	holding, held := store.LockRecord{}, false
	if !found.Run.State.Final() { // else nobody takes an order any more
		if holding, held, err = p.Held(ctx, found.Ref.RequestID); err != nil {
			return Ordered{}, err
		}
	}
	if held && strings.HasPrefix(holding.Owner, SessionOwner) { // which takes no orders of runs
		return Ordered{}, HeldRequest(found.Run.Details.Number, holding)
	}
	if !held {
		if p, err = p.Trusted(ctx); err != nil {
			return Ordered{}, err
		}
	}
	if found.Run.State.Final() {
		return p.fromHereOn(ctx, found.Ref, &found.Run, watch)
	}
	if !held { // an order that cannot be carried out from here is not left behind
		if _, err := p.Runner(ctx, nil); err != nil {
			return Ordered{}, err
		}
	}
	if err := p.signalWithin(ctx, found, holding, o.leave); err != nil {
		return Ordered{}, wire.Explained(err)
	}
	if held {
		return p.obeyed(ctx, found.Ref, holding, watch)
	}
	return p.fromHereOn(ctx, found.Ref, &found.Run, watch)
}

func (p *App) fromHereOn(ctx context.Context, ref workflow.RunRef, run *workflow.Run, watch Watcher) (Ordered, error) {
	all, err := p.goOn(ctx, ref, run, watch)
	return Ordered{Carried: all}, err
}

// LeaveOnly leaves an order for whichever process carries the run next, and returns the run.
func (p *App) LeaveOnly(ctx context.Context, ref string, o Order) (*workflow.Run, error) {
	found, err := p.Find(ctx, ref)
	if err == nil {
		err = o.may(&found.Run)
	}
	if err == nil {
		err = wire.Explained(p.Signal(ctx, found, o.leave))
	}
	return &found.Run, err
}

func (p *App) Signal(ctx context.Context, found store.RunSummary, change func(*workflow.Run, *workflow.Signals)) error {
	return p.Store.Signal(ctx, found.Ref, func(s *workflow.Signals) error {
		change(&found.Run, s)
		return nil
	})
}

// signalWithin is signal, but for a process that is suspended while it has the document's lock.
func (p *App) signalWithin(ctx context.Context, found store.RunSummary, by store.LockRecord, change func(*workflow.Run, *workflow.Signals)) error {
	within, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	err := p.Signal(within, found, change)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return notAnswering(&found.Run, by)
	}
	return err
}

// orderWait is how long an order may lie untaken. A runner takes one within a second, on a machine that is not overloaded.
const orderWait = 30 * time.Second

// notAnswering says that the process which carries a run has not taken an order, and what to type.
func notAnswering(run *workflow.Run, by store.LockRecord) error {
	why, wake := "has not taken the order within "+orderWait.String(), "it takes the order when it can"
	if process.Suspended(by.PID, by.PIDStart) {
		why, wake = "is suspended and takes no orders", fmt.Sprintf("let it go on: kill -CONT %d", by.PID)
	}
	return &problem.Error{Err: fmt.Errorf("the process that carries run %s (%s) %s", run.Ref(), Holder(by), why),
		Hint: fmt.Sprintf("%s; or do without it: kill -9 %d; then signalbox resume %s", wake, by.PID, run.Ref())}
}

// HolderPoll is how often whoever left an order looks whether the process that
// should take it still lives: one that is killed frees its lock in silence.
const HolderPoll = time.Second / 4

// obeyed waits until the process that carries the run has taken the order. If
// that process dies before, the run is carried from here.
func (p *App) obeyed(ctx context.Context, ref workflow.RunRef, by store.LockRecord, watch Watcher) (Ordered, error) {
	changing, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := p.Store.Watch(changing, store.RunDir(ref)+"/stage.json")
	if err != nil {
		return Ordered{}, wire.Explained(err)
	}
	left := time.Now()
	for {
		run, err := p.Store.Stage(ref).Load(ctx)
		if err != nil {
			return Ordered{}, wire.Explained(err)
		}
		taken := !run.Signals.StopRequested && !run.Signals.ResumeRequested && len(run.Signals.Commands) == 0
		switch {
		case taken && run.State.Ended():
			return Ordered{Carried: []Result{{Run: run}}}, nil
		case taken && !run.Details.Canceling:
			return Ordered{Taken: &by, Run: run}, nil
		}
		if _, held, err := p.Held(ctx, ref.RequestID); err != nil || !held {
			done, goErr := p.fromHereOn(ctx, ref, &run, watch)
			return done, errors.Join(err, goErr)
		}
		if process.Suspended(by.PID, by.PIDStart) || !taken && time.Since(left) > orderWait {
			return Ordered{}, notAnswering(&run, by)
		}
		select {
		case <-changes:
		case <-time.After(HolderPoll):
		case <-ctx.Done():
			return Ordered{}, fmt.Errorf("the order is left for the process that carries the run (pid %d): %w", by.PID, ctx.Err())
		}
	}
}

// Personal makes an order that the published signals have no word for.
func Personal(kind workflow.CommandKind, commit, text string) workflow.Command {
	by := "unknown"
	if u, err := user.Current(); err == nil {
		by = u.Username
	}
	return workflow.Command{ID: rand.Text(), Kind: kind, Commit: commit, Text: text, By: by, At: now().UTC()}
}

func Wrong(r *workflow.Run, why, hint string) error {
	return &problem.Error{Err: fmt.Errorf("run %s (%s): %s", r.Ref(), strings.ToLower(r.State.Label()), why), Hint: hint}
}
