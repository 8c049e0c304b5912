package display

import (
	"context"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Watching shows the progress of the runs that carry works on.
func Watching(a *command.Invocation, several bool, carry func(app.Watcher) ([]app.Result, error)) ([]app.Result, error) {
	var shown *Progress
	defer func() {
		if shown != nil {
			shown.Close()
		}
	}()
	return carry(func(by *app.App) func(workflow.Run) {
		shown = NewProgress(a, several, func(r *workflow.Run) string { return LastWords(&command.Project{Invocation: a, App: by}, r) })
		return shown.Observe
	})
}

// PrintOutcome shows how each run ended and returns the worst of their exit codes.
func PrintOutcome(p *command.Project, all []app.Result) error {
	var worst error
	var shown []workflow.Run
	for _, c := range all {
		run, err := c.Run, c.Err
		if err == nil {
			shown = append(shown, run)
			err = command.Ended(run.State)
		} else if len(all) > 1 {
			p.ShowError(err)
			err = &problem.Error{Code: problem.CodeOf(err)}
		}
		if err != nil && (worst == nil || problem.CodeOf(worst) == problem.NeedsInput) {
			worst = err
		}
	}
	var document any = shown
	if len(shown) == 1 {
		document = shown[0]
	}
	if err := p.Show(document, func() {
		for _, run := range shown {
			PrintEnd(p, &run)
		}
	}); err != nil {
		return err
	}
	return worst
}

// Follow shows runs of other processes until they stop or the user leaves: q leaves, and s twice stops the only run.
func Follow(ctx context.Context, p *command.Project, watched []workflow.RunRef) error {
	several := len(watched) > 1
	progress := NewProgress(p.Invocation, several, func(r *workflow.Run) string { return LastWords(p, r) })
	progress.Header = "watching " + commandline.Count(len(watched), "run") + "; q leaves"
	if !several {
		progress.Header += ", s twice stops it"
	}
	defer progress.Close()
	following, leave := context.WithCancel(ctx)
	defer leave()
	typed, restore := p.Keys(following)
	defer restore()
	go func() {
		for before := byte(0); ; {
			select {
			case key := <-typed:
				switch {
				case key == 'q':
					leave()
				case key == 's' && before == 's' && !several:
					if err := p.Store.Signal(following, watched[0], func(s *workflow.Signals) error {
						s.StopRequested = true
						return nil
					}); err != nil {
						p.Log.Warn("leave the order to stop", "run", watched[0].RunID, "err", err)
					}
				}
				before = key
			case <-following.Done():
				return
			}
		}
	}()
	runs, err := p.Follow(following, watched, func(run *workflow.Run) {
		if !p.JSON {
			progress.Observe(*run)
		} else if err := p.PrintJSONLine(run); err != nil {
			p.ShowError(err)
		}
	})
	if following.Err() != nil {
		progress.Stay()
		return nil // watching may end at any time
	}
	progress.Close()
	if err != nil || p.JSON {
		return wire.Explained(err)
	}
	all := make([]app.Result, len(runs))
	for i := range runs {
		all[i].Run = runs[i]
	}
	return PrintOutcome(p, all)
}
