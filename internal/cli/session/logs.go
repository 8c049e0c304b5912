package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
)

func newSessionLogs(a *command.Invocation) *cobra.Command {
	var raw bool
	c := &cobra.Command{
		Use:               "logs ISSUE",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: offerSessions(a, false, anySession),
		RunE:              func(c *cobra.Command, args []string) error { return sessionLogs(c.Context(), a, args[0], raw) },
	}
	c.Flags().BoolVar(&raw, "raw", false, "with the control characters")
	return c
}

// logLine bounds what is cleaned at once: programs that draw print no line ends.
const logLine = 64 << 10

func sessionLogs(ctx context.Context, a *command.Invocation, ref string, raw bool) error {
	x, info, err := openSession(ctx, a, ref)
	if err != nil {
		return err
	}
	if raw && a.JSON {
		return &problem.Error{Err: errors.New("--raw has no JSON"), Code: problem.Usage, Hint: "leave one of --raw and --json out"}
	}
	read := x.Text
	if raw {
		read = x.Output
	}
	output, err := read()
	if err != nil {
		return wire.Explained(err)
	}
	defer func() { _ = output.Close() }()
	if raw {
		if _, err := io.Copy(a.Bare.Out, output); err != nil {
			return fmt.Errorf("print log: %w", err)
		}
		return nil
	}
	for lines := bufio.NewReaderSize(output, logLine); ; {
		line, err := lines.ReadSlice('\n')
		if errLine := printLogged(a, info.Issue, redact.Clean(string(line))); errLine != nil {
			return errLine
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil
		}
	}
}

// printLogged prints a line, or as much of it as is cleaned at once; for programs as watch does.
func printLogged(a *command.Invocation, issue int, line string) error {
	if !a.JSON {
		a.Print("%s", line)
		return nil
	}
	if line == "" {
		return nil
	}
	return a.PrintJSONLine(sessionEvent{Issue: issue, Line: strings.TrimRight(line, "\r\n")})
}
