package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"signalbox/internal/place"
	"signalbox/internal/process"
)

func newEnvShell(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "shell ENV",
		Short: "Open a shell in an environment, as its agent sees it",
		Long: "Open a shell inside a run's environment, with the same isolation and with what its setup activated. ENV is an\n" +
			"environment's id or its issue's number. If the run is stopped, it can't be resumed before the shell has ended. What you\n" +
			"leave in the files is kept on a ref when the run is resumed, but isn't part of its change.",
		Example:           "  signalbox env shell 42",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.offerEnvironments(),
		RunE: func(c *cobra.Command, args []string) error {
			return a.enter(c.Context(), args[0], a.shellIn)
		},
	}
}

// preferredShell is bash where there is one, with our prompt, which says where one is: a bash that
// runs a script takes PS1 away, and so would Debian's start-up file. The agent's commands do not
// read start-up files either.
var preferredShell = []string{"sh", "-c", `PS1=$SIGNALBOX_PROMPT; export PS1; unset SIGNALBOX_PROMPT
command -v bash >/dev/null 2>&1 && exec bash --norc -i; exec sh -i`}

func (a *invocation) shellIn(ctx context.Context, place *place.Place) (err error) {
	c := process.Command{Args: preferredShell, Stdin: a.In, Stdout: a.bare.Out, Stderr: a.bare.Err,
		Env: []string{"SIGNALBOX_PROMPT=(signalbox " + place.Run().Ref() + ") \\w \\$ ", "TERM=" + a.Env("TERM")}}
	file, ok := a.In.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		c.Args = []string{"sh"} // a script on standard input
		return a.execIn(ctx, place, c)
	}
	before, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return fmt.Errorf("prepare terminal: %w", err)
	}
	defer func() { err = errors.Join(err, term.Restore(int(file.Fd()), before)) }()
	resize, stop := sizes(file)
	defer stop()
	// A file would be given to the program as it is; its bytes are to be typed into its terminal.
	c.Stdin = &typed{file}
	c.Terminal = &process.Terminal{Size: sizeOf(file), Resize: resize}
	return a.execIn(ctx, place, c)
}

// typed hides that it reads from a file.
type typed struct{ file *os.File }

// Read implements io.Reader.
func (t *typed) Read(p []byte) (int, error) { return t.file.Read(p) }

func sizeOf(file *os.File) process.TerminalSize {
	columns, rows, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return process.TerminalSize{}
	}
	return process.TerminalSize{Rows: uint16(rows), Columns: uint16(columns)}
}

// sizes tells the terminal's size whenever it changes.
func sizes(file *os.File) (resize <-chan process.TerminalSize, stop func()) {
	changed, sent := make(chan os.Signal, 1), make(chan process.TerminalSize, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		for range changed {
			select {
			case sent <- sizeOf(file):
			default:
			}
		}
	}()
	return sent, func() {
		signal.Stop(changed)
		close(changed)
	}
}
