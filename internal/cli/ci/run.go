package ci

import (
	"context"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/app/ci"
	"signalbox/internal/app/intake"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/redact"
)

func newRun(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use: "run NUMBER", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			number, err := ci.ParseNumber(args[0])
			if err != nil {
				return err
			}
			p, err := a.OpenTrusted(c.Context())
			if err != nil {
				return err
			}
			job := ci.Job{Tell: func(result intake.Result) { tell(a, result) }, Run: func(ctx context.Context, ref string) error {
				done, err := display.Watching(p.Invocation, false, func(watch app.Watcher) ([]app.Result, error) { return p.StartRuns(ctx, []string{ref}, watch) })
				if err != nil {
					return err
				}
				return display.PrintOutcome(p, done)
			}}
			return job.Do(c.Context(), p.App, number)
		},
	}
	command.AddRunFlags(a, c)
	return c
}

func tell(a *command.Invocation, result intake.Result) {
	for _, o := range result.Orders {
		refused := ""
		if o.Refused != "" {
			refused = ": refused: " + redact.Line(o.Refused, 200)
		}
		if !a.JSON {
			a.Print("%v: %s by %s%s\n", o.Order.On, redact.Line(string(o.Order.Verb), 20), redact.Line(o.Order.By, 60), refused)
		}
	}
}
