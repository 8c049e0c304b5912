package cli

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

// order leaves a signal for the run and, unless a process that carries it will
// obey by itself, carries it from here.
func (a *invocation) order(ctx context.Context, ref string, check func(*workflow.Run) error, change func(*workflow.Run, *workflow.Signals)) error {
	p, found, err := a.openRun(ctx, ref)
	if err != nil {
		return err
	}
	if err := check(&found.Run); err != nil {
		return err
	}
	if found.Run.State.Final() {
		if p, err = p.trusted(ctx); err != nil {
			return err
		}
		return p.goOn(ctx, found.Ref, &found.Run) // nobody takes an order any more
	}
	holding, held, err := p.held(ctx, found.Ref.RequestID)
	if err != nil {
		return err
	}
	if held && strings.HasPrefix(holding.Owner, sessionOwner) { // which takes no orders of runs
		return heldRequest(found.Run.Journey.Number, holding)
	}
	if !held { // an order that cannot be carried out from here is not left behind
		if p, err = p.trusted(ctx); err != nil {
			return err
		}
		if _, err := p.Runner(ctx, nil); err != nil {
			return err
		}
	}
	if err := p.signalWithin(ctx, found, holding, change); err != nil {
		return wire.Explained(err)
	}
	if held {
		return p.obeyed(ctx, found.Ref, holding)
	}
	return p.goOn(ctx, found.Ref, &found.Run)
}

func (p *project) signal(ctx context.Context, found store.RunSummary, change func(*workflow.Run, *workflow.Signals)) error {
	return p.Store.Signal(ctx, found.Ref, func(s *workflow.Signals) error {
		change(&found.Run, s)
		return nil
	})
}

// signalWithin is signal, but for a process that is suspended while it has the document's lock.
func (p *project) signalWithin(ctx context.Context, found store.RunSummary, by store.LockRecord, change func(*workflow.Run, *workflow.Signals)) error {
	within, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	err := p.signal(within, found, change)
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
	return &problem.Error{Err: fmt.Errorf("the process that carries run %s (%s) %s", run.Ref(), holder(by), why),
		Hint: fmt.Sprintf("%s; or do without it: kill -9 %d; then signalbox resume %s", wake, by.PID, run.Ref())}
}

// holderPoll is how often whoever left an order looks whether the process that
// should take it still lives: one that is killed frees its lock in silence.
const holderPoll = time.Second / 4

// obeyed waits until the process that carries the run has taken the order. If
// that process dies before, the run is carried from here.
func (p *project) obeyed(ctx context.Context, ref workflow.RunRef, by store.LockRecord) error {
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := p.Store.Watch(watch, store.RunDir(ref)+"/stage.json")
	if err != nil {
		return wire.Explained(err)
	}
	left := time.Now()
	for {
		run, err := p.Store.Stage(ref).Load(ctx)
		if err != nil {
			return wire.Explained(err)
		}
		taken := !run.Signals.StopRequested && !run.Signals.ResumeRequested && len(run.Signals.Commands) == 0
		switch {
		case taken && run.State.Ended():
			return p.outcome([]workflow.Run{run}, []error{nil})
		case taken && !run.Journey.Canceling && p.json:
			return p.printJSON(run)
		case taken && !run.Journey.Canceling:
			p.print("taken by the process that carries run %s (%s); follow it: signalbox watch %s\n", run.Ref(), holder(by), run.Ref())
			return nil
		}
		if _, held, err := p.held(ctx, ref.RequestID); err != nil || !held {
			return errors.Join(err, p.goOn(ctx, ref, &run))
		}
		if process.Suspended(by.PID, by.PIDStart) || !taken && time.Since(left) > orderWait {
			return notAnswering(&run, by)
		}
		select {
		case <-changes:
		case <-time.After(holderPoll):
		case <-ctx.Done():
			return fmt.Errorf("the order is left for the process that carries the run (pid %d): %w", by.PID, ctx.Err())
		}
	}
}

// personal makes an order that the published signals have no word for.
func personal(kind workflow.CommandKind, commit, text string) workflow.Command {
	by := "unknown"
	if u, err := user.Current(); err == nil {
		by = u.Username
	}
	return workflow.Command{ID: rand.Text(), Kind: kind, Commit: commit, Text: text, By: by, At: now().UTC()}
}

// orderOrLeave carries the run after the order, or only leaves the order.
func (a *invocation) orderOrLeave(ctx context.Context, ref string, leave bool, check func(*workflow.Run) error, change func(*workflow.Run, *workflow.Signals)) error {
	if !leave {
		return a.order(ctx, ref, check, change)
	}
	p, found, err := a.openRun(ctx, ref)
	if err == nil {
		err = check(&found.Run)
	}
	if err == nil {
		err = wire.Explained(p.signal(ctx, found, change))
	}
	if err == nil {
		a.print("left for run %s; it goes on with: signalbox resume %s\n", found.Run.Ref(), found.Run.Ref())
	}
	return err
}

func (a *invocation) wrong(r *workflow.Run, why, hint string) error {
	return &problem.Error{Err: fmt.Errorf("run %s (%s): %s", r.Ref(), strings.ToLower(r.State.Label()), why), Hint: hint}
}
