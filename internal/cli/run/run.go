package run

import (
	"context"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
)

func newRun(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use:  "run REQUEST...",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return Requests(c.Context(), a, args) },
	}
	command.AddRunFlags(a, c)
	c.Flags().StringSliceVar(&a.Opener.Overrides.Workflow, "workflow", nil, "full, simple, or a list of phases")
	c.Flags().StringVar(&a.Opener.Overrides.Approve, "approve", "", "manual or auto")
	c.Flags().StringVar(&a.Opener.Overrides.Base, "base", "", "branch to merge into")
	return c
}

func Requests(ctx context.Context, a *command.Invocation, refs []string) error {
	p, err := a.OpenTrusted(ctx)
	if err != nil {
		return err
	}
	done, err := display.Watching(p.Invocation, len(refs) > 1, func(watch app.Watcher) ([]app.Result, error) { return p.StartRuns(ctx, refs, watch) })
	if err != nil {
		return err
	}
	return display.PrintOutcome(p, done)
}
