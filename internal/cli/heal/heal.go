// Package heal holds "signalbox heal" and "signalbox health": the self-healing loop and its state.
package heal

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/commandline"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

func New(a *command.Invocation) *cobra.Command {
	var unattended bool
	c := &cobra.Command{
		Use:  "heal",
		RunE: func(c *cobra.Command, _ []string) error { return runHeal(c.Context(), a, unattended) },
	}
	command.AddRunFlags(a, c)
	c.Flags().BoolVar(&unattended, "unattended", false, "in a folder that is thrown away afterwards, as in CI: what waits for an approval counts as failed")
	c.AddCommand(newHealInit(a), newHealGate(a), newHealWatch(a), newHealStatus(a), newHealLog(a), newProbe(a))
	return c
}

// newHealGate is "health gate" where a loop looks for it, with the interval of the configuration.
func newHealGate(a *command.Invocation) *cobra.Command {
	c := newHealthGate(a)
	every, decide := c.Flags().Lookup("check-every"), c.RunE
	every.Usage += "; health.every of the configuration, unless given"
	c.RunE = func(c *cobra.Command, args []string) error {
		configured, err := healing.Every(a.Opener)
		if err != nil {
			return err
		}
		if configured > 0 && !every.Changed {
			if err := every.Value.Set(configured.String()); err != nil {
				return fmt.Errorf("take health.every: %w", err)
			}
		}
		return decide(c, args)
	}
	return c
}

func runHeal(ctx context.Context, a *command.Invocation, unattended bool) error {
	report, stood := healOnce(ctx, a, 0, unattended)
	switch { // what stood in the way of one repair is told beside what the pass came to
	case report.Result == "":
		return stood
	case !a.JSON:
		printReport(a, &report)
	default:
		if err := a.PrintJSON(report); err != nil {
			return err
		}
	}
	code := passCodes[report.Result]
	if code == problem.OK {
		return stood
	}
	a.ShowError(stood)
	return &problem.Error{Code: code}
}

var passCodes = map[health.Result]int{health.PassHealthy: problem.OK, health.PassRepaired: problem.OK, health.PassWaiting: problem.NeedsInput,
	health.PassCritical: problem.NeedsInput, health.PassFailed: problem.Failed, health.PassUnknown: problem.General, health.PassCooldown: problem.Cooldown}

// healOnce is one pass, with the configuration of this moment.
func healOnce(ctx context.Context, a *command.Invocation, every time.Duration, unattended bool) (heal.Report, error) {
	p, err := a.OpenTrusted(ctx)
	if err != nil {
		return heal.Report{}, err
	}
	report, err := healing.Pass{Every: every, Unattended: unattended,
		Carry: func(ctx context.Context, repair heal.Repair) (workflow.Run, error) { return repaired(ctx, p, repair) },
		Tell: func(line string) {
			if !a.JSON {
				a.Print("%s %s\n", commandline.Clock(time.Now()), redact.Line(line, 300))
			}
		}}.Make(ctx, p.App)
	tellRestored(a, report.Restored, "going on from")
	return report, err
}

// repaired carries a repair and shows its progress.
func repaired(ctx context.Context, p *command.Project, repair heal.Repair) (run workflow.Run, err error) {
	_, err = display.Watching(p.Invocation, false, func(watch app.Watcher) ([]app.Result, error) {
		run, err = p.CarryRepair(ctx, repair, watch)
		return nil, err
	})
	return run, err
}
