// Package heal holds "signalbox heal" and "signalbox health": the self-healing loop and its state.
package heal

import (
	"cmp"
	"context"
	"errors"
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
		Use: "heal",
		RunE: func(c *cobra.Command, _ []string) error {
			report, obstacle := makePass(c.Context(), a, 0, unattended)
			if report.Result == "" {
				return obstacle
			}
			if err := a.Show(report, func() { printReport(a, &report) }); err != nil {
				return err
			}
			code := passCodes[report.Result]
			if code == problem.OK {
				return obstacle
			}
			a.ShowError(obstacle) // it prevented one repair, and is shown beside the pass's result
			return &problem.Error{Code: code}
		},
	}
	command.AddRunFlags(a, c)
	c.Flags().BoolVar(&unattended, "unattended", false, "in a temporary folder, as in CI: a repair that waits for an approval counts as failed")
	c.AddCommand(newHealInit(a), newGate(a, true), newHealWatch(a), newHealStatus(a), newHealLog(a), newProbe(a))
	return c
}

var passCodes = map[health.Result]int{health.PassHealthy: problem.OK, health.PassRepaired: problem.OK, health.PassWaiting: problem.NeedsInput,
	health.PassCritical: problem.NeedsInput, health.PassFailed: problem.Failed, health.PassUnknown: problem.General, health.PassCooldown: problem.Cooldown}

// makePass makes one pass with the current configuration and shows its progress. A report without a result says that no pass was
// made; an error beside a result prevented one repair.
func makePass(ctx context.Context, a *command.Invocation, every time.Duration, unattended bool) (heal.Report, error) {
	p, err := a.OpenTrusted(ctx)
	if err != nil {
		return heal.Report{}, err
	}
	report, err := healing.Pass{Every: every, Unattended: unattended,
		Carry: func(ctx context.Context, repair heal.Repair) (run workflow.Run, err error) {
			_, err = display.Watching(p.Invocation, false, func(watch app.Watcher) ([]app.Result, error) {
				run, err = p.CarryRepair(ctx, repair, watch)
				return nil, err
			})
			return run, err
		},
		Tell: func(line string) {
			if !a.JSON {
				a.Print("%s %s\n", commandline.Clock(time.Now()), redact.Line(line, 300))
			}
		}}.Make(ctx, p.App)
	tellRestored(a, report.Restored, "continuing from")
	return report, err
}

// newGate returns "health gate", or "heal gate" with the interval of the configuration.
func newGate(a *command.Invocation, configured bool) *cobra.Command {
	var every time.Duration
	c := &cobra.Command{
		Use: "gate",
		RunE: func(c *cobra.Command, _ []string) error {
			if configured {
				interval, err := healing.Every(a.Opener)
				if err != nil {
					return err
				}
				if !c.Flags().Changed("check-every") {
					every = cmp.Or(interval, every)
				}
			}
			if every <= 0 {
				return command.UsageError("want a time above zero", "--check-every is %s", every)
			}
			at, err := healing.Load(c.Context(), a.Opener)
			tellRestored(a, at.Broken, "deciding by")
			if err != nil {
				return err
			}
			gate := at.Gate(every, a.Opener.Now())
			if err := healing.WriteOutputs(a.Opener, gate, at.State); err != nil {
				return err
			}
			if err := a.Show(gate, func() {
				a.Print("%s: %s%s\n", gate.Decision, redact.Clean(gate.Reason), until(gate))
				printCriticalAdvice(a, at.State, gate.Decision == health.GateCritical)
			}); err != nil {
				return err
			}
			if code := gateCodes[gate.Decision]; code != problem.OK {
				return &problem.Error{Code: code}
			}
			return nil
		},
	}
	usage := "how long a healthy project is left alone"
	if configured {
		usage += "; health.every of the configuration, unless given"
	}
	c.Flags().DurationVar(&every, "check-every", health.Interval, usage)
	return c
}

var gateCodes = map[health.GateDecision]int{health.GateGo: problem.OK, health.GateStop: problem.NothingDue,
	health.GateCooldown: problem.Cooldown, health.GateCritical: problem.NeedsInput}

func until(g health.Gate) string {
	if g.Until.IsZero() {
		return ""
	}
	return " (" + moment(g.Until.Format(time.RFC3339)) + ")"
}

// leastEvery is the shortest time between two passes that --every can ask for.
const leastEvery = time.Second

func newHealWatch(a *command.Invocation) *cobra.Command {
	var every time.Duration
	c := &cobra.Command{
		Use: "watch",
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("every") && every < leastEvery {
				return command.UsageError(fmt.Sprintf("want at least %s", leastEvery), "--every is %s", every)
			}
			return healing.Watch(c.Context(), a.Opener, every, func() (heal.Report, error) {
				report, obstacle := makePass(c.Context(), a, every, false)
				var p *problem.Error
				switch {
				case c.Context().Err() != nil:
					return report, nil
				case errors.As(obstacle, &p) && p.Code == problem.Usage:
					return report, obstacle
				}
				a.ShowError(obstacle) // it may be gone at the next pass
				switch {
				case report.Result == "":
				case a.JSON:
					return report, a.PrintJSONLine(report)
				default:
					printReport(a, &report)
				}
				return report, nil
			})
		},
	}
	c.Flags().DurationVar(&every, "every", 0, "how long a project is left alone (default: health.every of the configuration, or 1h)")
	command.AddRunFlags(a, c)
	return c
}

// printReport prints the result of a pass, and what to do.
func printReport(a *command.Invocation, r *heal.Report) {
	words := fmt.Sprintf("critical: %s; %d of %d passes since found nothing wrong", r.Health.FailedInARow(),
		r.Health.Loop.HealthyPasses, health.HealthyPasses)
	next := ""
	switch r.Result {
	case health.PassHealthy:
		words = "healthy"
	case health.PassUnknown:
		words = "unknown: nothing failed, but nothing shows that all is well"
	case health.PassRepaired:
		words = "repaired; the next pass verifies it"
	case health.PassWaiting:
		words = "a repair waits"
	case health.PassFailed:
		words, next = "a repair failed; the next may begin at "+moment(r.Health.CooldownUntil), "once the cooldown is over: signalbox heal"
	case health.PassCooldown:
		words, next = "cooldown: nothing is done until "+moment(r.Health.CooldownUntil), "what was tried: signalbox heal log"
	}
	a.Print("%s\n", a.Paint(passColors[r.Result], words))
	for _, u := range r.Health.Loop.Unseen {
		a.Print("  unknown: %s: %s\n", redact.Line(u.Check, 40), redact.Joined(u.Why, 200))
	}
	if len(r.Health.Loop.Unseen) > 0 {
		a.Print("  %s\n", unseenAdvice)
	}
	if r.Pass != nil {
		for _, repair := range r.Pass.Repairs {
			if repair.Request != "" && (repair.Outcome == health.RepairFailed || repair.Outcome == health.RepairWaiting) {
				a.Print("  where it stopped, and why: signalbox status %s\n", redact.Line(repair.Request, 40))
			}
		}
	}
	if next != "" {
		a.Print("  %s\n", next)
	}
	printCriticalAdvice(a, r.Health, r.Health.LastHealthStatus == health.Critical)
}

// unseenAdvice is what a person does about checks that could not run.
const unseenAdvice = `what is missing here: signalbox doctor; once it's fixed: signalbox heal`

// printCriticalAdvice says what a person does about a critical state.
func printCriticalAdvice(a *command.Invocation, h health.State, critical bool) {
	if !critical {
		return
	}
	about := `open the request about it: signalbox health escalate`
	if h.Loop.Request != "" {
		about = "see request " + redact.Line(h.Loop.Request, 60)
	}
	a.Print("  %s\n  when it is fixed, or to have it tried again: \"%s\"\n", about, app.RearmCommand)
}
