package mcp

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/mcp/wrap"
	"signalbox/internal/problem"
)

func newWrap(a *command.Invocation) *cobra.Command {
	var issue int
	c := &cobra.Command{
		Use: "wrap -- SERVER [ARGUMENT]...", Args: cobra.MinimumNArgs(1), ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		RunE: func(c *cobra.Command, args []string) error {
			if issue < 0 {
				return command.UsageError("a whole number from 1 on", "%d is not the number of an issue", issue)
			}
			a.Opener.AskTrust = nil // the terminal, if there is one, is the agent's
			caughtUp(c.Context(), a)
			code, err := wrap.Run(c.Context(), wrap.Config{Server: args, In: os.Stdin, Out: a.Bare.Out, Err: a.Bare.Err,
				Recorder: environments.ContainerUse{Opener: a.Opener, Issue: issue}, Warn: a.ShowError})
			if err == nil && code != 0 {
				err = &problem.Error{Code: code}
			}
			return err
		},
	}
	c.Flags().IntVar(&issue, "issue", 0, "the issue of the environments that are created")
	return c
}

// caughtUp records what happened while no one looked. The server is wrapped in any case.
func caughtUp(ctx context.Context, a *command.Invocation) {
	p, err := a.Open(ctx)
	if err == nil {
		_, err = environments.SyncContainerUse(ctx, p.App)
	}
	if err != nil {
		a.ShowError(err)
	}
}
