package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Document opens a file of the run's folder, such as stage.json, for reading.
func (p *App) Document(ref workflow.RunRef, name string) (io.ReadCloser, error) {
	file, err := p.Store.OpenArtifact(store.RunDir(ref) + "/" + name)
	if err != nil {
		return nil, wire.Explained(err)
	}
	return file, nil
}

// Watched are the runs to follow: those that refs name, or all that haven't ended. If a request has no run yet, waits hears of it
// and Watched waits for one.
func (p *App) Watched(ctx context.Context, refs []string, waits func(ref string)) (watched []workflow.RunRef, err error) {
	for _, ref := range refs {
		found, err := p.Find(ctx, ref)
		if errors.Is(err, ErrNoRun) {
			waits(ref)
		}
		for errors.Is(err, ErrNoRun) {
			select {
			case <-ctx.Done():
				return nil, nil
			case <-time.After(beginPoll):
			}
			found, err = p.Find(ctx, ref)
		}
		if err != nil || ctx.Err() != nil {
			return nil, err
		}
		watched = append(watched, found.Ref)
	}
	if len(refs) > 0 {
		return watched, nil
	}
	latest, err := p.Latest(ctx)
	for _, r := range latest {
		if r.Err == nil && !r.Run.State.Ended() {
			watched = append(watched, r.Ref)
		}
	}
	return watched, err
}

// beginPoll is how often Watched looks for a run that hasn't begun.
const beginPoll = time.Second / 2

// Follow shows every change of the runs until all of them have ended.
func (p *App) Follow(ctx context.Context, refs []workflow.RunRef, show func(*workflow.Run)) ([]workflow.Run, error) {
	var paths []string
	for _, ref := range refs {
		paths = append(paths, store.RunDir(ref)+"/stage.json")
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := p.Store.Watch(watch, paths...)
	if err != nil {
		return nil, err
	}
	seen := make([]int, len(refs))
	runs := make([]workflow.Run, len(refs))
	for {
		moving := false
		for i, ref := range refs {
			if runs[i], err = p.Store.Stage(ref).Load(ctx); err != nil {
				return nil, err
			}
			moving = moving || !runs[i].State.Ended()
			if runs[i].Details.Transition != seen[i] {
				seen[i] = runs[i].Details.Transition
				show(&runs[i])
			}
		}
		if !moving {
			return runs, nil
		}
		if err := p.MustBeCarried(ctx, runs); err != nil {
			return nil, err
		}
		select {
		case _, open := <-changes:
			if !open {
				return runs, ctx.Err()
			}
		case <-time.After(DeadPoll): // a process that is killed writes nothing
		}
	}
}

// Changed waits until the run that ref names has another transition than seen, or doesn't move, and returns where it is; at ctx's end,
// as it is then.
func (p *App) Changed(ctx context.Context, ref string, seen int) (at Standing, err error) {
	within := context.WithoutCancel(ctx) // the last look comes after ctx's end
	err = p.changed(ctx, ref, func() (done bool, err error) {
		at, err = p.Status(within, ref)
		return at.Issue != nil || at.Run.Details.Transition != seen || at.Run.State.Ended() || at.Interrupted, err
	})
	return at, err
}

// Next waits until the run that ref names has another transition than seen, however long it takes, and returns its number.
func (p *App) Next(ctx context.Context, ref string, seen int) (int, error) {
	now := seen
	err := p.changed(ctx, ref, func() (bool, error) {
		found, err := p.Find(ctx, ref)
		now = found.Run.Details.Transition
		return now != seen, err
	})
	return now, err
}

// changed calls done at each change of the run that ref names, until it is done or ctx ends.
func (p *App) changed(ctx context.Context, ref string, done func() (bool, error)) error {
	found, err := p.Find(ctx, ref)
	if err != nil {
		return err
	}
	changes, err := p.Store.Watch(ctx, store.RunDir(found.Ref)+"/stage.json")
	if err != nil {
		return wire.Explained(err)
	}
	for {
		if ok, err := done(); err != nil || ok || ctx.Err() != nil {
			return err
		}
		select {
		case <-changes:
		case <-time.After(DeadPoll): // a process that is killed writes nothing
		case <-ctx.Done():
		}
	}
}

// DeadPoll is how often a follower checks that a process still runs the run.
const DeadPoll = 2 * time.Second

// MustBeCarried is an error if some of the runs should move but no process runs any of them.
func (p *App) MustBeCarried(ctx context.Context, runs []workflow.Run) error {
	for i := range runs {
		if runs[i].State.Ended() {
			continue
		}
		if _, held, err := p.Held(ctx, runs[i].RequestID); err != nil || held {
			return err
		}
		// It may have ended since we read it.
		now, err := p.Store.Stage(workflow.RefOf(&runs[i])).Load(ctx)
		if err != nil || now.State.Ended() || now.Details.Transition != runs[i].Details.Transition {
			return err
		}
	}
	run := runs[slices.IndexFunc(runs, func(r workflow.Run) bool { return !r.State.Ended() })]
	return &problem.Error{Err: fmt.Errorf("run %s has no process: it was cut off while %s", run.Ref(), run.Details.Phase.Position().Doing),
		Hint: "resume it: " + commandline.For(&run, workflow.VerbResume)}
}
