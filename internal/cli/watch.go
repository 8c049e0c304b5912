package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

func newWatch(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "watch [RUN...]",
		Short: "Follow runs live until they stand still",
		Long: "Follow runs that other processes carry: redrawn on a terminal, one line per piece of news elsewhere, one JSON\n" +
			"document per line with --json. Without a run: every one that is not at an end.",
		Example: "  signalbox watch\n  signalbox watch 42\n  signalbox watch 42 --json | jq -r .progress.message",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(c *cobra.Command, args []string) error { return a.watch(c.Context(), args) },
	}
}

func (a *app) watch(ctx context.Context, refs []string) error {
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	watched, err := p.watched(ctx, refs)
	if err != nil {
		return err
	}
	if len(watched) == 0 {
		p.print("no run is under way; start one: signalbox run REQUEST\n")
		return nil
	}
	progress := newProgress(p.app, len(watched) > 1)
	defer progress.close()
	runs, err := p.follow(ctx, watched, progress)
	progress.close()
	if ctx.Err() != nil {
		return nil // who watches may look away
	}
	if err != nil {
		return explained(err)
	}
	if p.json {
		return nil
	}
	return p.outcome(runs, make([]error, len(runs)))
}

func (p *project) watched(ctx context.Context, refs []string) (watched []store.RunRef, err error) {
	for _, ref := range refs {
		found, err := p.find(ctx, ref)
		if err != nil {
			return nil, err
		}
		watched = append(watched, found.Ref)
	}
	if len(refs) > 0 {
		return watched, nil
	}
	latest, err := p.latest(ctx)
	for _, r := range latest {
		if r.Err == nil && !r.Run.State.Ended() {
			watched = append(watched, r.Ref)
		}
	}
	return watched, err
}

// follow shows every change of the runs until all of them stand still.
func (p *project) follow(ctx context.Context, refs []store.RunRef, show *progress) ([]workflow.Run, error) {
	var paths []string
	for _, ref := range refs {
		paths = append(paths, ref.Dir()+"/stage.json")
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := p.store.Watch(watch, paths...)
	if err != nil {
		return nil, err
	}
	seen := make([]int, len(refs))
	runs := make([]workflow.Run, len(refs))
	for {
		moving := false
		for i, ref := range refs {
			if runs[i], err = p.store.Stage(ref).Load(ctx); err != nil {
				return nil, err
			}
			moving = moving || !runs[i].State.Ended()
			if runs[i].Journey.Transition != seen[i] {
				seen[i] = runs[i].Journey.Transition
				p.showChange(&runs[i], show)
			}
		}
		if !moving {
			return runs, nil
		}
		if err := p.carried(ctx, runs); err != nil {
			return nil, err
		}
		select {
		case _, open := <-changes:
			if !open {
				return runs, ctx.Err()
			}
		case <-time.After(deadPoll): // who dies says nothing
		}
	}
}

// deadPoll is how often whoever follows a run looks whether somebody still carries it.
const deadPoll = 2 * time.Second

// carried is an error when no process carries any of the runs that should move.
func (p *project) carried(ctx context.Context, runs []workflow.Run) error {
	for i := range runs {
		if runs[i].State.Ended() {
			continue
		}
		if _, held, err := p.held(ctx, runs[i].RequestID); err != nil || held {
			return err
		}
		// It may have ended since it was read.
		now, err := p.store.Stage(store.RefOf(&runs[i])).Load(ctx)
		if err != nil || now.State.Ended() || now.Journey.Transition != runs[i].Journey.Transition {
			return err
		}
	}
	run := runs[slices.IndexFunc(runs, func(r workflow.Run) bool { return !r.State.Ended() })]
	return &problem{err: fmt.Errorf("no process carries run %s: it was cut off while %s", run.Ref(), run.Journey.Phase.Position().Doing),
		hint: "go on: signalbox resume " + run.Ref()}
}

func (p *project) showChange(run *workflow.Run, show *progress) {
	if !p.json {
		show.observe(*run)
		return
	}
	if err := p.printJSONLine(run); err != nil {
		p.show(err)
	}
}
