package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

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
