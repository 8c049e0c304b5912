package app

import (
	"context"
	"errors"
	"time"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// Watched are the runs to follow: those that refs name, or all that are not at an end. A request that has none yet is waited for,
// which waits is told.
func (p *App) Watched(ctx context.Context, refs []string, waits func(ref string)) (watched []workflow.RunRef, err error) {
	for _, ref := range refs {
		found, err := p.begun(ctx, ref, waits)
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

// begun is the latest run that ref names. It waits for the first run of a request that has none.
func (p *App) begun(ctx context.Context, ref string, waits func(ref string)) (store.RunSummary, error) {
	found, err := p.Find(ctx, ref)
	if !errors.Is(err, ErrNoRun) {
		return found, err
	}
	waits(ref)
	for errors.Is(err, ErrNoRun) {
		select {
		case <-ctx.Done():
			return found, nil
		case <-time.After(beginPoll):
		}
		found, err = p.Find(ctx, ref)
	}
	return found, err
}

// beginPoll is how often a run that is waited for is looked for.
const beginPoll = time.Second / 2

// Follow shows every change of the runs until all of them stand still.
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
		case <-time.After(DeadPoll): // who dies says nothing
		}
	}
}

// DeadPoll is how often whoever follows a run looks whether somebody still carries it.
const DeadPoll = 2 * time.Second
