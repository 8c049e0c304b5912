package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/session"
	"signalbox/internal/session/terminal"
)

// reportTime is how long a host may take to record a report.
const reportTime = 30 * time.Second

func newReport(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{Use: "report"}
	for _, x := range []struct {
		use  string
		kind terminal.Kind
		args cobra.PositionalArgs
	}{
		{"complete [TEXT...]", terminal.Complete, cobra.ArbitraryArgs},
		{"error TEXT...", terminal.Error, cobra.MinimumNArgs(1)},
		{"progress TEXT...", terminal.Progress, cobra.MinimumNArgs(1)},
	} {
		c.AddCommand(&cobra.Command{
			Use: x.use, Args: x.args, ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(c *cobra.Command, args []string) error {
				ctx, cancel := context.WithTimeout(c.Context(), reportTime)
				defer cancel()
				err := session.Report(ctx, a.Opener.Env, terminal.Word{Kind: x.kind, Message: strings.Join(args, " ")})
				switch {
				case errors.Is(err, session.ErrRefused):
					return &problem.Error{Err: err, Hint: "it is for an agent that was started by: signalbox session start"}
				case errors.Is(err, session.ErrNoWords):
					return command.UsageError(fmt.Sprintf("say it in words: signalbox report %s \"…\"", x.kind), "%w", err)
				}
				return err
			}})
	}
	return c
}

// SessionHost is what the process that hosts a session needs of this package.
func SessionHost() session.HostConfig {
	return app.SessionHost(func(dir string) *app.Opener {
		a := command.NewInvocation(command.Streams{In: strings.NewReader(""), Out: io.Discard, Err: os.Stderr, Env: os.Getenv, Dir: dir})
		a.Opener.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		return a.Opener
	})
}
