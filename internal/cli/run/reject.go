package run

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
)

func newReject(a *command.Invocation) *cobra.Command {
	var noRun bool
	c := &cobra.Command{
		Use:  "reject RUN REASON",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if strings.TrimSpace(args[1]) == "" {
				return &problem.Error{Err: errors.New("REASON is empty"), Hint: command.UsageHint(c), Code: problem.Usage}
			}
			return orderOrLeave(c.Context(), a, args[0], noRun, app.Reject(args[1]))
		},
	}
	c.Flags().BoolVar(&noRun, "no-run", false, "only leave the rejection; the next \"signalbox resume\" takes it")
	command.AddRunFlags(a, c)
	return c
}
