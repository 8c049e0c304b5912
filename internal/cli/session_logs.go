package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"signalbox/internal/redact"
)

func newSessionLogs(a *app) *cobra.Command {
	var raw bool
	c := &cobra.Command{
		Use:   "logs ISSUE",
		Short: "Print what a session's agent printed so far",
		Long: "Print the session's record, without secrets and control characters; of very much output the beginning and the end.\n" +
			"--raw leaves the control characters, by which a terminal shows it as it was. To follow it: signalbox session watch.",
		Example:           "  signalbox session logs 42\n  signalbox session logs 42 --raw | less -R",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.offerSessions(false, anySession),
		RunE:              func(c *cobra.Command, args []string) error { return a.sessionLogs(c.Context(), args[0], raw) },
	}
	c.Flags().BoolVar(&raw, "raw", false, "with the control characters")
	return c
}

// logLine bounds what is cleaned at once: programs that draw print no line ends.
const logLine = 64 << 10

func (a *app) sessionLogs(ctx context.Context, ref string, raw bool) error {
	all, err := a.openSessions(ctx)
	if err != nil {
		return err
	}
	x, _, err := openSession(ctx, all, ref)
	if err != nil {
		return err
	}
	output, err := x.Output()
	if err != nil {
		return explained(err)
	}
	defer func() { _ = output.Close() }()
	if raw {
		if _, err := io.Copy(a.Out, output); err != nil {
			return fmt.Errorf("print log: %w", err)
		}
		return nil
	}
	for lines := bufio.NewReaderSize(output, logLine); ; {
		line, err := lines.ReadSlice('\n')
		a.print("%s", redact.Clean(string(line)))
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil
		}
	}
}
