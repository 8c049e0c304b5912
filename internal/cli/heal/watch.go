package heal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/problem"
)

func newHealWatch(a *command.Invocation) *cobra.Command {
	var every time.Duration
	c := &cobra.Command{
		Use: "watch",
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("every") && every < least {
				return &problem.Error{Err: fmt.Errorf("--every is %s", every), Hint: fmt.Sprintf("want at least %s", least), Code: problem.Usage}
			}
			return healWatch(c.Context(), a, every)
		},
	}
	c.Flags().DurationVar(&every, "every", 0, "how long a project is left alone (default: health.every of the configuration, or 1h)")
	command.AddRunFlags(a, c)
	return c
}

// least is the shortest time between two passes that --every can ask for.
const least = time.Second

// unknownEvery is how soon a pass is tried again where nobody ever said how often: the configuration does not hold.
const unknownEvery = 5 * time.Minute

func healWatch(ctx context.Context, a *command.Invocation, every time.Duration) error {
	known := unknownEvery
	for ctx.Err() == nil {
		started := a.Opener.Now()
		report, err := watchOnce(ctx, a, every)
		if err != nil {
			return err
		}
		known = cmp.Or(every, report.Every, known)
		timer := time.NewTimer(untilNext(a, &report, known, started))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	return nil
}

// watchOnce makes a pass and tells what it came to, and what stood in its way, which the next may find gone.
func watchOnce(ctx context.Context, a *command.Invocation, every time.Duration) (heal.Report, error) {
	report, stood := healOnce(ctx, a, every, false)
	var p *problem.Error
	switch {
	case ctx.Err() != nil:
		return report, nil
	case errors.As(stood, &p) && p.Code == problem.Usage:
		return report, stood
	}
	a.ShowError(stood)
	switch {
	case report.Result == "":
		return report, nil
	case a.JSON:
		return report, a.PrintJSONLine(report)
	}
	printReport(a, &report)
	return report, nil
}

// untilNext is how long to wait for the next pass: counted from the beginning of this one, or from now if it came to nothing.
func untilNext(a *command.Invocation, report *heal.Report, every time.Duration, started time.Time) time.Duration {
	now := a.Opener.Now()
	if report.Result == "" {
		return every
	}
	next := started.Add(every)
	if gate := report.Health.Gate(every, now); gate.Decision == health.GateCooldown {
		next = gate.Until
	}
	return max(next.Sub(now), 0)
}
