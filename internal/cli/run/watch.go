package run

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newWatch(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "watch [RUN...]",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return watch(c.Context(), a, args) },
	}
}

func watch(ctx context.Context, a *command.Invocation, refs []string) error {
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	watched, err := p.Watched(ctx, refs, func(ref string) {
		p.Say(fmt.Sprintf("request %s has no run yet; waiting for one (start it: signalbox run %[1]s)", redact.Line(ref, 100)))
	})
	if err != nil || ctx.Err() != nil {
		return err
	}
	if len(watched) == 0 {
		p.Print("no run is under way; start one: signalbox run REQUEST\n")
		return nil
	}
	progress := display.NewProgress(p.Invocation, len(watched) > 1, func(r *workflow.Run) string { return display.LastWords(p, r) })
	progress.Header = "watching " + commandline.Count(len(watched), "run") + "; q leaves, s twice stops it"
	if len(watched) > 1 {
		progress.Header = "watching " + commandline.Count(len(watched), "run") + "; q leaves"
	}
	defer progress.Close()
	following, leave := context.WithCancel(ctx)
	defer leave()
	defer obeyKeys(following, p, leave, watched)()
	runs, err := p.Follow(following, watched, func(run *workflow.Run) { showChange(p, run, progress) })
	if following.Err() != nil {
		progress.Stay()
		return nil // who watches may look away
	}
	progress.Close()
	if err != nil {
		return wire.Explained(err)
	}
	if p.JSON {
		return nil
	}
	all := make([]app.Result, len(runs))
	for i := range runs {
		all[i].Run = runs[i]
	}
	return display.PrintOutcome(p, all)
}

// obeyKeys lets the person leave with q and stop the one run they watch by typing s twice. The function returned gives
// the terminal back.
func obeyKeys(ctx context.Context, p *command.Project, leave func(), watched []workflow.RunRef) (restore func()) {
	typed, restore := p.Keys(ctx)
	go func() {
		var before byte
		for {
			select {
			case key := <-typed:
				switch {
				case key == 'q':
					leave()
				case key == 's' && before == 's' && len(watched) == 1:
					err := p.Store.Signal(ctx, watched[0], func(s *workflow.Signals) error {
						s.StopRequested = true
						return nil
					})
					if err != nil {
						p.Log.Warn("leave the order to stop", "run", watched[0].RunID, "err", err)
					}
				}
				before = key
			case <-ctx.Done():
				return
			}
		}
	}()
	return restore
}

func showChange(p *command.Project, run *workflow.Run, show *display.Progress) {
	if !p.JSON {
		show.Observe(*run)
		return
	}
	if err := p.PrintJSONLine(run); err != nil {
		p.ShowError(err)
	}
}
