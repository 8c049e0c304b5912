// Package heal holds "signalbox heal" and "signalbox health": the self-healing loop and its state.
package heal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/config"
	"signalbox/internal/git"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/wire"
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
		if err := wantsRepository(a); err != nil {
			return err
		}
		configured, known, err := healthSettings(a)
		if err != nil {
			return err
		}
		if known && len(configured.Checks) == 0 {
			return withoutChecks() // else whoever asks the gate begins a pass for ever
		}
		if configured.Every > 0 && !every.Changed {
			if err := every.Value.Set(configured.Every.String()); err != nil {
				return fmt.Errorf("take health.every: %w", err)
			}
		}
		return decide(c, args)
	}
	return c
}

func withoutChecks() error { return &problem.Error{Err: heal.ErrNoChecks, Hint: sayWhatToLookAt} }

const sayWhatToLookAt = "say what to look at: health.checks in " + config.Name + " (docs/healing.md)"

// wantsRepository refuses a folder in which no pass could ever be made.
func wantsRepository(a *command.Invocation) error {
	_, gitDir, err := wire.DocumentsRoot(a.Opener.Dir)
	if err == nil && gitDir == "" {
		err = fmt.Errorf("open repository %s: %w", a.Opener.Dir, git.ErrNotRepository)
	}
	return wire.Explained(err)
}

// healthSettings are the configuration's; not known where there is none. What a file that does not hold says may not be what
// was meant, so nothing is decided by it.
func healthSettings(a *command.Invocation) (settings config.Health, known bool, err error) {
	root, _, err := wire.DocumentsRoot(a.Opener.Dir)
	if err != nil {
		return settings, false, err
	}
	all, found, err := config.Load(filepath.Join(root, config.Name), a.Opener.Env)
	if err != nil {
		return settings, false, &problem.Error{Err: err, Hint: wire.MendConfiguration}
	}
	return all.Health, found, nil
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
	defer func() { _ = p.Store.Close() }()
	if p.ConfigError != nil {
		return heal.Report{}, p.ConfigError
	}
	p.Config.Workflow = config.Lines{workflow.WorkflowHeal}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends what serves the agents
	healer := healer(p, every)
	healer.Unattended = unattended
	report, err := healer.Pass(ctx)
	tellRestored(a, report.Restored, "going on from")
	var held *store.HeldError
	switch {
	case err != nil && ctx.Err() != nil:
		return report, &problem.Error{Err: errors.New("interrupted; what was begun is gone on with by the next pass"), Hint: "go on: signalbox heal"}
	case errors.As(err, &held):
		return report, &problem.Error{Code: problem.Held, Err: fmt.Errorf("another process looks after the project's health: %s", app.Holder(held.Holder)),
			Hint: "see what it finds: signalbox heal status"}
	case errors.Is(err, heal.ErrNoChecks):
		return report, withoutChecks()
	}
	return report, wire.Explained(err)
}
