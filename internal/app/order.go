package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"os/user"
	"strings"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Order is something that a person asks of a run.
type Order struct {
	// may says why the order isn't possible now, nil if it is.
	may func(*workflow.Run) error
	// leave leaves it for the process that runs the run.
	leave func(*workflow.Run, *workflow.Signals)
	// renews: what people settled on the forge counts from now on.
	renews bool
}

// Ordered is the outcome of an order. Either another process runs the run and took the order, or this process ran the run.
type Ordered struct {
	Carried []Result
	// Taken is the other process, nil if this one ran the run; Run is the run as it was then.
	Taken *store.LockRecord
	Run   workflow.Run
}

// Give leaves an order for the run that ref names. If no other process runs it, this one does.
func (p *App) Give(ctx context.Context, ref string, o Order, watch Watcher) (Ordered, error) {
	found, err := p.Find(ctx, ref)
	if err != nil {
		return Ordered{}, err
	}
	if err := o.may(&found.Run); err != nil {
		return Ordered{}, err
	}
	if found.Run.State.Final() { // then no process takes an order
		if p, err = p.Trusted(ctx); err != nil {
			return Ordered{}, err
		}
		return p.runHere(ctx, found.Ref, &found.Run, watch)
	}
	holding, held, err := p.Held(ctx, found.Ref.RequestID)
	if err != nil {
		return Ordered{}, err
	}
	if held && strings.HasPrefix(holding.Owner, SessionOwner) { // a session takes no orders
		return Ordered{}, HeldRequest(found.Run.Details.Number, holding)
	}
	if !held { // leave no order that can't be carried out from here
		if p, err = p.Trusted(ctx); err != nil {
			return Ordered{}, err
		}
		if _, err := p.Runner(ctx, nil); err != nil {
			return Ordered{}, err
		}
	}
	if keeps, ok := p.Forge.(forge.Keeping); ok && o.renews {
		if err := keeps.Renew(ctx, found.Ref.RequestID); err != nil {
			return Ordered{}, wire.Explained(err)
		}
	}
	within, cancel := context.WithTimeout(ctx, orderWait)
	err = p.Signal(within, found, o.leave)
	suspended := err != nil && within.Err() != nil && ctx.Err() == nil // a suspended process keeps the document's lock
	cancel()
	switch {
	case suspended:
		return Ordered{}, notAnswering(&found.Run, holding)
	case err != nil:
		return Ordered{}, wire.Explained(err)
	case held:
		return p.obeyed(ctx, found.Ref, holding, watch)
	}
	return p.runHere(ctx, found.Ref, &found.Run, watch)
}

// runHere runs an existing run in this process.
func (p *App) runHere(ctx context.Context, ref workflow.RunRef, run *workflow.Run, watch Watcher) (Ordered, error) {
	request := forge.Request{ID: ref.RequestID, Number: run.Details.Number}
	all, err := p.runAll(ctx, []forge.Request{request}, watch, func(ctx context.Context, _ *engine.Engine, _ forge.Request) (workflow.RunRef, error) {
		return ref, p.ownRun(ctx, ref)
	})
	return Ordered{Carried: all}, err
}

// LeaveOnly leaves an order for the process that next runs the run, and returns the run.
func (p *App) LeaveOnly(ctx context.Context, ref string, o Order) (*workflow.Run, error) {
	found, err := p.Find(ctx, ref)
	if err == nil {
		err = o.may(&found.Run)
	}
	if keeps, ok := p.Forge.(forge.Keeping); ok && o.renews && err == nil {
		err = wire.Explained(keeps.Renew(ctx, found.Ref.RequestID))
	}
	if err == nil {
		err = wire.Explained(p.Signal(ctx, found, o.leave))
	}
	return &found.Run, err
}

// Signal leaves a signal for the process that runs the run.
func (p *App) Signal(ctx context.Context, found store.RunSummary, change func(*workflow.Run, *workflow.Signals)) error {
	return p.Store.Signal(ctx, found.Ref, func(s *workflow.Signals) error {
		change(&found.Run, s)
		return nil
	})
}

// orderWait is how long an order may wait. A runner takes one within a second, unless the machine is overloaded.
const orderWait = 30 * time.Second

// notAnswering is the error that a run's process hasn't taken an order.
func notAnswering(run *workflow.Run, by store.LockRecord) error {
	why, wake := "has not taken the order within "+orderWait.String(), "it takes the order when it can"
	if process.Suspended(by.PID, by.PIDStart) {
		why, wake = "is suspended and takes no orders", fmt.Sprintf("wake it: kill -CONT %d", by.PID)
	}
	return &problem.Error{Err: fmt.Errorf("the process of run %s (%s) %s", run.Ref(), Holder(by), why),
		Hint: fmt.Sprintf("%s; or do without it: kill -9 %d; then %s", wake, by.PID, commandline.For(run, workflow.VerbResume))}
}

// HolderPoll is how often we check that the process which should take an order is alive: if it's killed, no document tells us.
const HolderPoll = time.Second / 4

// obeyed waits until the process that runs the run has taken the order. If that process dies first, this one runs the run.
func (p *App) obeyed(ctx context.Context, ref workflow.RunRef, by store.LockRecord, watch Watcher) (Ordered, error) {
	run, taken, err := p.Taken(ctx, ref, by, func(run *workflow.Run) bool { return run.State.Ended() || !run.Details.Canceling })
	switch {
	case err != nil:
		return Ordered{}, err
	case !taken:
		return p.runHere(ctx, ref, &run, watch)
	case run.State.Ended():
		return Ordered{Carried: []Result{{Run: run}}}, nil
	}
	return Ordered{Taken: &by, Run: run}, nil
}

// Taken waits until the process that runs the run has taken all orders and the run is as it should be, and returns the run as it is then. taken is
// false if that process ended before.
func (p *App) Taken(ctx context.Context, ref workflow.RunRef, by store.LockRecord, as func(*workflow.Run) bool) (run workflow.Run, taken bool, err error) {
	changing, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := p.Store.Watch(changing, store.RunDir(ref)+"/stage.json")
	if err != nil {
		return run, false, wire.Explained(err)
	}
	left := time.Now()
	for {
		_, held, err := p.Held(ctx, ref.RequestID) // before the look: it ends after its last save
		if err != nil {
			return run, false, err
		}
		if run, err = p.Store.Stage(ref).Load(ctx); err != nil {
			return run, false, wire.Explained(err)
		}
		taken := !run.Signals.StopRequested && !run.Signals.ResumeRequested && len(run.Signals.Commands) == 0
		switch {
		case taken && as(&run):
			return run, true, nil
		case !held:
			return run, false, nil
		case process.Suspended(by.PID, by.PIDStart), !taken && time.Since(left) > orderWait:
			return run, false, notAnswering(&run, by)
		}
		select {
		case <-changes:
		case <-time.After(HolderPoll):
		case <-ctx.Done():
			return run, false, fmt.Errorf("the process that runs the run gets the order (pid %d): %w", by.PID, ctx.Err())
		}
	}
}

// Personal is a command from this user, for orders that aren't among the published signals.
func Personal(kind workflow.CommandKind, commit, text string) workflow.Command {
	by := "unknown"
	if u, err := user.Current(); err == nil {
		by = u.Username
	}
	return workflow.Command{ID: rand.Text(), Kind: kind, Commit: commit, Text: text, By: by, At: time.Now().UTC()}
}

// Wrong is the error that an order isn't possible for a run as it is now.
func Wrong(r *workflow.Run, why, hint string) error {
	return &problem.Error{Err: fmt.Errorf("run %s (%s): %s", r.Ref(), strings.ToLower(r.State.Label()), why), Hint: hint}
}

// May says why the order isn't possible for a run as it is, nil if it is.
func (o Order) May(run *workflow.Run) error { return o.may(run) }

// Leave leaves the order in a run's signals. Only the forge's orders are left so; Give is for people.
func (o Order) Leave(run *workflow.Run, s *workflow.Signals) { o.leave(run, s) }

// Through returns the order as one that a program passes on for the person who is logged in. The record names both.
func (o Order) Through(program string) Order {
	leave := o.leave
	o.leave = func(run *workflow.Run, s *workflow.Signals) {
		before := len(s.Commands)
		leave(run, s)
		for i := before; i < len(s.Commands); i++ {
			by := &s.Commands[i].By
			*by += " through " + strings.TrimSuffix(program, " as "+*by) // most users log in under the name that they have here
		}
	}
	return o
}

// WithoutNews returns the order as one that leaves the issue as the run knows it.
func (o Order) WithoutNews() Order {
	o.renews = false
	return o
}

// Renews reports whether what people settled on the forge counts from now on.
func (o Order) Renews() bool { return o.renews }
