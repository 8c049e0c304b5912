package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/session"
	"signalbox/internal/session/terminal"
)

func newReport(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use:   "report",
		Short: "Report progress, as an agent in a session",
		Long: "For agents: report how the session ended, or how far it is. Only the session's own agent is believed: its token is in the\n" +
			"agent's environment. The first final status counts; later ones are noted.",
		Example: "  signalbox report progress \"the failing test is written\"\n  signalbox report complete\n  signalbox report error \"the API is not documented\"",
	}
	for _, word := range []struct {
		kind  terminal.Kind
		short string
		args  cobra.PositionalArgs
	}{
		{terminal.Complete, "Say that the work is done", cobra.ArbitraryArgs},
		{terminal.Error, "Say that the work cannot be done, and why", cobra.MinimumNArgs(1)},
		{terminal.Progress, "Say how far the work is", cobra.MinimumNArgs(1)},
	} {
		use := string(word.kind) + " TEXT..."
		if word.kind == terminal.Complete {
			use = string(word.kind) + " [TEXT...]"
		}
		c.AddCommand(&cobra.Command{Use: use, Short: word.short, Example: "  signalbox report " + string(word.kind) + " \"…\"", Args: word.args,
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(c *cobra.Command, args []string) error {
				return report(c.Context(), a, terminal.Word{Kind: word.kind, Message: strings.Join(args, " ")})
			}})
	}
	return c
}

// reportTime is how long a host may take to write a report down.
const reportTime = 30 * time.Second

func report(ctx context.Context, a *command.Invocation, word terminal.Word) error {
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	err := session.Report(ctx, a.Opener.Env, word)
	switch {
	case errors.Is(err, session.ErrRefused):
		return &problem.Error{Err: err, Hint: "it is for an agent that was started by: signalbox session start"}
	case errors.Is(err, session.ErrNoWords):
		return &problem.Error{Err: err, Code: problem.Usage, Hint: fmt.Sprintf("say it in words: signalbox report %s \"…\"", word.Kind)}
	}
	return err
}
