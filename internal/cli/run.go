package cli

import (
	"context"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

func newRun(a *invocation) *cobra.Command {
	c := &cobra.Command{
		Use:   "run REQUEST...",
		Short: "Run requests until they're merged or need you",
		Long: "Carry each request (its number, its id, or its file) to a merged change. A run that was cut off goes on\n" +
			"where it was. Several requests run at once, as many as there are slots (max_parallel).\n\n" +
			"It ends when the change is merged, or when a person is needed; then it says why and what to type.",
		Example: "  signalbox run 42\n  signalbox run requests/fix-parser.md\n  signalbox run 42 --agent ./agent.sh --approve auto\n" +
			"  signalbox run 41 42 43 --max-parallel 2",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.run(c.Context(), args) },
	}
	a.carryFlags(c)
	c.Flags().StringSliceVar(&a.Overrides.Workflow, "workflow", nil, "full, simple, or a list of phases")
	c.Flags().StringVar(&a.Overrides.Approve, "approve", "", "manual or auto")
	c.Flags().StringVar(&a.Overrides.Base, "base", "", "branch to merge into")
	return c
}

// carryFlags are the flags of every command that carries runs.
func (a *invocation) carryFlags(c *cobra.Command) {
	c.Flags().BoolVar(&a.Overrides.Unsandboxed, "unsandboxed", false, "run agents and commands on this machine as you, without isolation")
	c.Flags().StringVar(&a.Overrides.Agent, "agent", "", "who alone implements the request: an agent of the configuration, or a program (prompt on its standard input)")
	c.Flags().IntVar(&a.Overrides.MaxParallel, "max-parallel", 0, "how many runs of the project work at once")
	a.trustFlag(c)
}

func (a *invocation) run(ctx context.Context, refs []string) error {
	p, err := a.openTrusted(ctx)
	if err != nil {
		return err
	}
	done, err := p.watching(len(refs) > 1, func(watch app.Watcher) ([]app.Result, error) { return p.StartRuns(ctx, refs, watch) })
	if err != nil {
		return err
	}
	return p.outcome(done)
}

// watching shows the progress of what is carried meanwhile.
func (a *invocation) watching(several bool, carry func(app.Watcher) ([]app.Result, error)) ([]app.Result, error) {
	var shown *progress
	defer func() {
		if shown != nil {
			shown.close()
		}
	}()
	return carry(func(by *app.App) func(workflow.Run) {
		shown = newProgress(a, several, (&project{a, by}).lastWords)
		return shown.observe
	})
}

// outcome shows how each run ended and returns the worst of it.
func (p *project) outcome(all []app.Result) error {
	var worst error
	var shown []workflow.Run
	for _, c := range all {
		run, err := c.Run, c.Err
		if err == nil {
			shown = append(shown, run)
			err = ended(run.State)
		} else if len(all) > 1 {
			p.show(err)
			err = &problem.Error{Code: problem.CodeOf(err)}
		}
		if err != nil && (worst == nil || problem.CodeOf(worst) == problem.NeedsInput) {
			worst = err
		}
	}
	if p.json {
		if err := p.printRuns(shown); err != nil {
			return err
		}
		return worst
	}
	for _, run := range shown {
		p.printEnd(&run)
	}
	return worst
}
