package app

import (
	"context"
	"fmt"
	"slices"

	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

// MustBeCarried is an error when no process carries any of the runs that should move.
func (p *App) MustBeCarried(ctx context.Context, runs []workflow.Run) error {
	for i := range runs {
		if runs[i].State.Ended() {
			continue
		}
		if _, held, err := p.Held(ctx, runs[i].RequestID); err != nil || held {
			return err
		}
		// It may have ended since it was read.
		now, err := p.Store.Stage(workflow.RefOf(&runs[i])).Load(ctx)
		if err != nil || now.State.Ended() || now.Details.Transition != runs[i].Details.Transition {
			return err
		}
	}
	run := runs[slices.IndexFunc(runs, func(r workflow.Run) bool { return !r.State.Ended() })]
	return &problem.Error{Err: fmt.Errorf("no process carries run %s: it was cut off while %s", run.Ref(), run.Details.Phase.Position().Doing),
		Hint: "go on: signalbox resume " + run.Ref()}
}
