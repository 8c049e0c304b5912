package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/store"
)

// Watcher takes orders until its context ends, and runs what they order.
type Watcher struct {
	Intake *Intake
	// Every is how often it looks for what no webhook told.
	Every time.Duration
	// After is the clock's.
	After func(time.Duration) <-chan time.Time
	// Run begins or continues the run of an issue, and returns when it ended.
	Run func(ctx context.Context, ref string) error
	// Tell is given what a look came to.
	Tell func(Result)
	// Failed is given the error of a look that is repeated.
	Failed func(error)
	// Wakes are what webhooks told; nil if none are taken.
	Wakes *Wakes

	mu      sync.Mutex
	running []string
	// rested are the issues whose runs ended since the last look at the forge: one that ends and is still owed is not begun again at once.
	rested []string
	ended  chan struct{}
	runs   context.Context //nolint:containedctx // that of all runs: it ends as an interruption, and after that of the looks
	group  sync.WaitGroup
}

// Watch takes the lock and watches. With once, it looks once and runs what that came to, to its end.
func (w *Watcher) Watch(ctx context.Context, once bool) (err error) {
	lock, err := w.Intake.Store.LockOnly(ctx, "watching", "signalbox forge watch")
	if held := (*store.HeldError)(nil); errors.As(err, &held) {
		return &problem.Error{Err: fmt.Errorf("another process watches the forge for this project: %s", app.Holder(held.Holder)), Code: problem.Held,
			Hint: "stop that one first, or leave it to it"}
	}
	if err != nil {
		return err
	}
	runs, interrupt := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { interrupt(engine.ErrInterrupted) }) // the next watcher continues them
	defer func() {
		stop()
		interrupt(engine.ErrInterrupted)
		w.group.Wait()
		err = errors.Join(err, lock.Release())
	}()
	w.ended, w.runs = make(chan struct{}, 1), runs
	err = w.look(ctx, w.Intake.Look)
	if once {
		w.group.Wait()
		return err
	}
	for wait := w.wait(err); ; wait = w.wait(err) {
		if err != nil && fatal(err) {
			return err
		}
		if err != nil {
			w.Failed(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-lock.Lost():
			return engine.ErrLost
		case <-w.After(wait):
			w.rest("")
			err = w.look(ctx, w.Intake.Look)
		case <-w.ended: // its record is settled, or something else is owed
			err = w.look(ctx, func(ctx context.Context) (Result, error) { return w.Intake.Read(ctx, forge.Wake{}) })
		case <-w.Wakes.Came():
			w.rest("")
			err = w.hear(ctx)
		}
	}
}

// wait is how long until the next look: longer if the forge asked for it.
func (w *Watcher) wait(err error) time.Duration {
	var f *forge.Failure
	if errors.As(err, &f) {
		return max(w.Every, f.RetryAfter)
	}
	return w.Every
}

// fatal reports whether a person has to act before a look can succeed.
func fatal(err error) bool {
	var f *forge.Failure
	return errors.As(err, &f) && f.Kind == forge.Unauthorized
}

func (w *Watcher) hear(ctx context.Context) error {
	var failed []error
	for _, wake := range w.Wakes.Take() {
		failed = append(failed, w.look(ctx, func(ctx context.Context) (Result, error) { return w.Intake.Read(ctx, wake) }))
	}
	return errors.Join(failed...)
}

// look looks, and begins what it came to.
func (w *Watcher) look(ctx context.Context, look func(context.Context) (Result, error)) error {
	result, err := look(ctx)
	if ctx.Err() != nil {
		return nil
	}
	result.Run = slices.DeleteFunc(result.Run, func(ref string) bool { return !w.start(ref) })
	w.Tell(result)
	return err
}

// start runs an issue in the background, unless this process does already.
func (w *Watcher) start(ref string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Contains(w.running, ref) || slices.Contains(w.rested, ref) {
		return false
	}
	w.running = append(w.running, ref)
	w.group.Go(func() {
		err := w.Run(w.runs, ref)
		if err != nil && w.runs.Err() == nil {
			err = errors.Join(err, w.Intake.NotRun(w.runs, ref, err))
			w.Failed(err)
		}
		w.rest(ref)
		select {
		case w.ended <- struct{}{}:
		default:
		}
	})
	return true
}

// rest marks an issue whose run ended; an empty one forgets all.
func (w *Watcher) rest(ref string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ref == "" {
		w.rested = nil
		return
	}
	w.running = slices.DeleteFunc(w.running, func(r string) bool { return r == ref })
	w.rested = append(w.rested, ref)
}
