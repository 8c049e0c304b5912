package env

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/place"
	"signalbox/internal/problem"
	"signalbox/internal/process"
)

func newEnvExec(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use:               "exec ENV -- PROGRAM [ARGUMENT]...",
		Args:              cobra.MatchAll(dashed, cobra.MinimumNArgs(2)),
		ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			return enter(c.Context(), a, args[0], func(ctx context.Context, place *place.Place) error {
				return execIn(ctx, place, args[0], process.Command{Args: args[1:], Stdin: a.In, Stdout: a.Bare.Out, Stderr: a.Bare.Err})
			})
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &problem.Error{Err: command.FlagError(err), Hint: "put -- before the program: " + dashedLine(c, c.Flags().Args()), Code: problem.Usage}
	})
	return c
}

// dashed refuses flags that may be meant for the program: what stands before -- is ours.
func dashed(c *cobra.Command, args []string) error {
	switch dash := c.ArgsLenAtDash(); {
	case dash == 0:
		return &problem.Error{Err: errors.New("ENV is missing before the --"), Hint: command.UsageHint(c), Code: problem.Usage}
	case len(args) < 2, dash == 1, dash < 0 && c.Flags().NFlag() == 0:
		return nil
	}
	return &problem.Error{Err: errors.New("it is not clear which flags are the program's"), Code: problem.Usage,
		Hint: "put -- before the program: " + dashedLine(c, args)}
}

// dashedLine is how the command with these arguments should have been written.
func dashedLine(c *cobra.Command, args []string) string {
	if len(args) < 2 {
		return command.UsageLine(c)
	}
	return fmt.Sprintf("%s %s -- %s ...", c.CommandPath(), args[0], args[1])
}

// enter lets act work in the environment that ref names: by its id or by its issue's number.
func enter(ctx context.Context, a *command.Invocation, ref string, act func(context.Context, *place.Place) error) error {
	p, err := a.OpenTrusted(ctx)
	if err != nil {
		return err
	}
	return environments.Enter(ctx, p.App, ref, act)
}

// execIn runs c, which reads what this command does, if that is a file at all.
func execIn(ctx context.Context, at *place.Place, ref string, c process.Command) error {
	if file, ok := c.Stdin.(*os.File); ok && file == nil {
		c.Stdin = nil
	}
	return environments.Exec(ctx, at, ref, c)
}
