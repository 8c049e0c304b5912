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
		Use:   "heal",
		Short: "Check the project's health and have an agent fix what fails",
		Long: "One pass of the self-healing loop: look at every health check of the configuration (health.checks), and for each\n" +
			"error open a request, once, and carry it to a merged change that the check passed on. Facts go into state.json;\n" +
			"\"heal gate\" (in CI) or \"heal watch\" decides whether a pass is due. The next pass continues one that was cut\n" +
			"off. docs/healing.md has the rest.\n\n" +
			"Exit codes:\n  0  healthy, or repaired\n  1  unknown: nothing failed, but nothing shows that all is well, because a check could not be looked at;\n     or an error ended the pass, or stood in the way of a request where all else went well\n  3  a repair waits for your approval, for an agent that can be used, or until what is in its way is gone; or the state is\n     critical: only a person goes on\n" +
			"  4  a repair failed; the next one waits 300 seconds\n  5  another process is at it\n  9  cooldown: a repair failed less than 300 seconds ago, nothing was done",
		Example: "  signalbox heal\n  signalbox heal gate && signalbox heal\n  signalbox heal --json | jq -r .result\n  signalbox heal watch --every 5m",
		RunE:    func(c *cobra.Command, _ []string) error { return runHeal(c.Context(), a, unattended) },
	}
	command.AddRunFlags(a, c)
	c.Flags().BoolVar(&unattended, "unattended", false, "in a folder that is thrown away afterwards, as in CI: what waits for an approval counts as failed")
	c.AddCommand(newHealInit(a), newHealGate(a), newHealWatch(a), newHealStatus(a), newHealLog(a), newProbe(a))
	return c
}

// newHealGate is "health gate" where a loop looks for it, with the interval of the configuration.
func newHealGate(a *command.Invocation) *cobra.Command {
	c := newHealthGate(a)
	c.Example = "  signalbox heal gate && signalbox heal\n  signalbox heal gate --check-every 15m --json"
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
