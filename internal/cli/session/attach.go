package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/sessions"
	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
	"signalbox/internal/session"
	"signalbox/internal/wire"
)

func newSessionAttach(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "attach ISSUE", Args: cobra.ExactArgs(1), ValidArgsFunction: offerSessions(a, false, running),
		RunE: func(c *cobra.Command, args []string) error {
			x, info, err := openSession(c.Context(), a, args[0])
			if err != nil {
				return err
			}
			left, err := attach(c.Context(), a, x)
			if err != nil {
				return sessions.Refused(err, info.Issue)
			}
			if left {
				a.Say(fmt.Sprintf("\ndetached; the session continues: signalbox session attach %d", info.Issue))
				return nil
			}
			after, err := x.Info(c.Context())
			if err != nil {
				return wire.Explained(err)
			}
			a.Say(fmt.Sprintf("\nthe session has ended: %s", sessions.EndOf(&after)))
			return sessions.Failed(&after)
		},
	}
}

// attach joins the person's terminal to the session's until they leave or it ends. The terminal is restored before anything else
// is printed, because a raw one doesn't return to the first column.
func attach(ctx context.Context, a *command.Invocation, x *session.Session) (left bool, err error) {
	at := session.Attachment{In: a.In, Out: a.Bare.Out}
	terminal, restore, err := a.Raw()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, restore()) }()
	if terminal != nil {
		at.Size, at.Resize = terminal.Size, terminal.Resize
	}
	return x.Attach(ctx, at)
}

func newSessionNudge(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "nudge ISSUE TEXT...", Args: cobra.MinimumNArgs(2), ValidArgsFunction: offerSessions(a, false, running),
		RunE: func(c *cobra.Command, args []string) error {
			x, info, err := openSession(c.Context(), a, args[0])
			if err != nil {
				return err
			}
			return sessions.Refused(x.Nudge(c.Context(), strings.Join(args[1:], " ")), info.Issue)
		},
	}
}

func newSessionLogs(a *command.Invocation) *cobra.Command {
	var raw bool
	c := &cobra.Command{
		Use: "logs ISSUE", Args: cobra.ExactArgs(1), ValidArgsFunction: offerSessions(a, false, nil),
		RunE: func(c *cobra.Command, args []string) error {
			x, info, err := openSession(c.Context(), a, args[0])
			if err != nil {
				return err
			}
			if raw && a.JSON {
				return command.UsageError("leave one of --raw and --json out", "--raw has no JSON")
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
			if !raw {
				return printLines(a, info.Issue, output)
			}
			if _, err := io.Copy(a.Bare.Out, output); err != nil {
				return fmt.Errorf("print log: %w", err)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&raw, "raw", false, "with the control characters")
	return c
}

// logLine bounds the text that is cleaned at once: programs that draw print no line ends.
const logLine = 64 << 10

// printLines prints a session's output without control characters, with --json as watch does.
func printLines(a *command.Invocation, issue int, output io.Reader) error {
	for lines := bufio.NewReaderSize(output, logLine); ; {
		line, err := lines.ReadSlice('\n')
		if text := redact.Clean(string(line)); !a.JSON {
			a.Print("%s", text)
		} else if text != "" {
			if err := a.PrintJSONLine(sessionEvent{Issue: issue, Line: strings.TrimRight(text, "\r\n")}); err != nil {
				return err
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil
		}
	}
}
