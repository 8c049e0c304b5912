package env

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"signalbox/internal/cli/command"
	"signalbox/internal/place"
	"signalbox/internal/process"
)

func newEnvShell(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "shell ENV",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			return enter(c.Context(), a, args[0], func(ctx context.Context, place *place.Place) error { return shellIn(ctx, a, place, args[0]) })
		},
	}
}

// preferredShell is bash where there is one, with our prompt, which says where one is: a bash that
// runs a script takes PS1 away, and so would Debian's start-up file. The agent's commands do not
// read start-up files either.
var preferredShell = []string{"sh", "-c", `PS1=$SIGNALBOX_PROMPT; export PS1; unset SIGNALBOX_PROMPT
command -v bash >/dev/null 2>&1 && exec bash --norc -i; exec sh -i`}

func shellIn(ctx context.Context, a *command.Invocation, place *place.Place, ref string) (err error) {
	c := process.Command{Args: preferredShell, Stdin: a.In, Stdout: a.Bare.Out, Stderr: a.Bare.Err,
		Env: []string{"SIGNALBOX_PROMPT=(signalbox " + place.Run().Ref() + ") \\w \\$ ", "TERM=" + a.Opener.Env("TERM")}}
	file, ok := a.In.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		c.Args = []string{"sh"} // a script on standard input
		return execIn(ctx, place, ref, c)
	}
	before, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return fmt.Errorf("prepare terminal: %w", err)
	}
	defer func() { err = errors.Join(err, term.Restore(int(file.Fd()), before)) }()
	resize, stop := command.Sizes(file)
	defer stop()
	// A file would be given to the program as it is; its bytes are to be typed into its terminal.
	c.Stdin = &typed{file}
	c.Terminal = &process.Terminal{Size: command.SizeOf(file), Resize: resize}
	return execIn(ctx, place, ref, c)
}

// typed hides that it reads from a file.
type typed struct{ file *os.File }

// Read implements io.Reader.
func (t *typed) Read(p []byte) (int, error) { return t.file.Read(p) }
