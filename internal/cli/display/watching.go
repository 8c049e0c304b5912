package display

import (
	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

// Watching shows the progress of what is carried meanwhile.
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

// PrintOutcome shows how each run ended and returns the worst of it.
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
	if p.JSON {
		if err := p.PrintRuns(shown); err != nil {
			return err
		}
		return worst
	}
	for _, run := range shown {
		PrintEnd(p, &run)
	}
	return worst
}
