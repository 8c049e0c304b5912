package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/workflow"
)

func newHealWatch(a *app) *cobra.Command {
	var every time.Duration
	c := &cobra.Command{
		Use:   "watch",
		Short: "Look at the project's health again and again, for a machine without CI",
		Long: "Make a pass, as \"heal\" does, at once, and then whenever one is due: --every after the last began, or when a cooldown\n" +
			"is over. Ends when it is interrupted. What stands in the way of a pass is told, and the next is made all the same. With --json\n" +
			"one line for each pass.",
		Example: "  signalbox heal watch --every 5m\n  signalbox heal watch --every 1m --json | jq -r .result",
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("every") && every < least {
				return &problem{err: fmt.Errorf("--every is %s", every), hint: fmt.Sprintf("want at least %s", least), code: exitUsage}
			}
			return a.healWatch(c.Context(), every)
		},
	}
	c.Flags().DurationVar(&every, "every", 0, "how long a project is left alone (default: health.every of the configuration, or 1h)")
	a.carryFlags(c)
	return c
}

// least is the shortest time between two passes that --every can ask for.
const least = time.Second

func (a *app) healWatch(ctx context.Context, every time.Duration) error {
	for ctx.Err() == nil {
		wait, err := a.watchOnce(ctx, every)
		if err != nil {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	return nil
}

// watchOnce makes a pass and says how long to wait for the next.
func (a *app) watchOnce(ctx context.Context, every time.Duration) (wait time.Duration, err error) {
	started := a.healthTime()
	report, err := a.healOnce(ctx, every, false)
	if every == 0 {
		every = report.Every
	}
	if every == 0 {
		every = workflow.HealthInterval
	}
	var p *problem
	switch {
	case ctx.Err() != nil:
		return 0, nil
	case errors.As(err, &p) && p.code == exitUsage:
		return 0, err
	case err != nil:
		a.show(err)
		return every, nil
	case a.json:
		err = a.printJSONLine(report)
	default:
		a.printReport(&report)
	}
	next := started.Add(every)
	if gate := report.Health.Gate(every, a.healthTime()); gate.Decision == workflow.GateCooldown {
		next = gate.Until
	}
	return max(next.Sub(a.healthTime()), 0), err
}
