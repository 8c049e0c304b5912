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
		Use: "report",
	}
	for _, word := range []struct {
		kind terminal.Kind
		args cobra.PositionalArgs
	}{
		{terminal.Complete, cobra.ArbitraryArgs},
		{terminal.Error, cobra.MinimumNArgs(1)},
		{terminal.Progress, cobra.MinimumNArgs(1)},
	} {
		use := string(word.kind) + " TEXT..."
		if word.kind == terminal.Complete {
			use = string(word.kind) + " [TEXT...]"
		}
		c.AddCommand(&cobra.Command{Use: use, Args: word.args,
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
