package env

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/place"
	"signalbox/internal/process"
)

func newEnvExec(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use: "exec ENV -- PROGRAM [ARGUMENT]...", Args: cobra.MatchAll(dashed, cobra.MinimumNArgs(2)), ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			return enter(c.Context(), a, args[0], func(ctx context.Context, at *place.Place) error {
				return execute(ctx, a, at, args[0], process.Command{Args: args[1:]})
			})
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return command.UsageError("put -- before the program: "+dashedLine(c, c.Flags().Args()), "%w", command.FlagError(err))
	})
	return c
}

// dashed refuses flags that may be meant for the program: only those before -- are ours.
func dashed(c *cobra.Command, args []string) error {
	switch dash := c.ArgsLenAtDash(); {
	case dash == 0:
		return command.UsageError(command.UsageHint(c), "ENV is missing before the --")
	case len(args) < 2, dash == 1, dash < 0 && c.Flags().NFlag() == 0:
		return nil
	}
	return command.UsageError("put -- before the program: "+dashedLine(c, args), "it is not clear which flags are the program's")
}

// dashedLine is how the command with these arguments should have been written.
func dashedLine(c *cobra.Command, args []string) string {
	if len(args) < 2 {
		return strings.TrimSuffix(c.UseLine(), " [flags]")
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

// execute runs a program with this command's standard input, if that is open at all, and its output.
func execute(ctx context.Context, a *command.Invocation, at *place.Place, ref string, c process.Command) error {
	if file, ok := a.In.(*os.File); c.Stdin == nil && (!ok || file != nil) {
		c.Stdin = a.In
	}
	c.Stdout, c.Stderr = a.Bare.Out, a.Bare.Err
	return environments.Exec(ctx, at, ref, c)
}

// preferredShell is bash if there is one, with our prompt, which says where you are: a bash that
// runs a script removes PS1, and so would Debian's start-up file. The agent's commands don't
// read start-up files either.
var preferredShell = []string{"sh", "-c", `PS1=$SIGNALBOX_PROMPT; export PS1; unset SIGNALBOX_PROMPT
command -v bash >/dev/null 2>&1 && exec bash --norc -i; exec sh -i`}

func newEnvShell(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "shell ENV", Args: cobra.ExactArgs(1), ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			return enter(c.Context(), a, args[0], func(ctx context.Context, at *place.Place) (err error) {
				c := process.Command{Args: []string{"sh"}, // a script on standard input
					Env: []string{"SIGNALBOX_PROMPT=(signalbox " + at.Run.Ref() + ") \\w \\$ ", "TERM=" + a.Opener.Env("TERM")}}
				terminal, restore, err := a.Raw()
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, restore()) }()
				if terminal != nil { // the program would get a file as it is; we type its bytes into the program's terminal instead
					c.Args, c.Terminal, c.Stdin = preferredShell, terminal, &typed{a.Typist()}
				}
				return execute(ctx, a, at, args[0], c)
			})
		},
	}
}

// typed hides that it reads from a file.
type typed struct{ file *os.File }

func (t *typed) Read(p []byte) (int, error) { return t.file.Read(p) }
