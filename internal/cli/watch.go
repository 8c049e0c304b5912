package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newWatch(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "watch [RUN...]",
		Short: "Watch runs live until they stop",
		Long: "Follow runs that other processes carry: redrawn on a terminal, with the agent's last words; one line per piece of\n" +
			"news elsewhere, one JSON document per line with --json. Without a run: every one that is not at an end. A request\n" +
			"without a run is waited for. Keys on a terminal: q leaves, and the runs go on; s twice stops the run.",
		Example: "  signalbox watch\n  signalbox watch 42\n  signalbox watch 42 --json | jq -r .progress.message",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(c *cobra.Command, args []string) error { return a.watch(c.Context(), args) },
	}
}

func (a *invocation) watch(ctx context.Context, refs []string) error {
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	watched, err := p.Watched(ctx, refs, func(ref string) {
		p.say(fmt.Sprintf("request %s has no run yet; waiting for one (start it: signalbox run %[1]s)", redact.Line(ref, 100)))
	})
	if err != nil || ctx.Err() != nil {
		return err
	}
	if len(watched) == 0 {
		p.print("no run is under way; start one: signalbox run REQUEST\n")
		return nil
	}
	progress := newProgress(p.invocation, len(watched) > 1, p.lastWords)
	progress.header = "watching " + commandline.Count(len(watched), "run") + "; q leaves, s twice stops it"
	if len(watched) > 1 {
		progress.header = "watching " + commandline.Count(len(watched), "run") + "; q leaves"
	}
	defer progress.close()
	following, leave := context.WithCancel(ctx)
	defer leave()
	defer p.obeyKeys(following, leave, watched)()
	runs, err := p.Follow(following, watched, func(run *workflow.Run) { p.showChange(run, progress) })
	if following.Err() != nil {
		progress.stay()
		return nil // who watches may look away
	}
	progress.close()
	if err != nil {
		return wire.Explained(err)
	}
	if p.json {
		return nil
	}
	all := make([]app.Result, len(runs))
	for i := range runs {
		all[i].Run = runs[i]
	}
	return p.outcome(all)
}

// obeyKeys lets the person leave with q and stop the one run they watch by typing s twice. The function returned gives
// the terminal back.
func (p *project) obeyKeys(ctx context.Context, leave func(), watched []workflow.RunRef) (restore func()) {
	typed, restore := p.keys(ctx)
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

func (p *project) showChange(run *workflow.Run, show *progress) {
	if !p.json {
		show.observe(*run)
		return
	}
	if err := p.printJSONLine(run); err != nil {
		p.show(err)
	}
}
