package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/heal"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

func newHealLog(a *app) *cobra.Command {
	var last int
	c := &cobra.Command{
		Use:   "log",
		Short: "Show the passes that found something: what failed, what was tried, what it came to and cost",
		Long: "Show the passes of this machine's self-healing loop, oldest first: what failed, which request and run answered it,\n" +
			"what that came to and what its agents used. Passes that found a healthy project healthy are not in it.",
		Example: "  signalbox heal log\n  signalbox heal log --last 5\n  signalbox heal log --json | jq '.repairs.fixed'",
		RunE:    func(c *cobra.Command, _ []string) error { return a.healLog(c.Context(), last) },
	}
	c.Flags().IntVar(&last, "last", 20, "how many passes; 0 is all")
	return c
}

func (a *app) healLog(ctx context.Context, last int) error {
	if last < 0 {
		return &problem{err: fmt.Errorf("--last is %d", last), hint: "want a number of passes, or 0 for all", code: exitUsage}
	}
	past, _, err := a.healingPast(ctx)
	if err != nil {
		return err
	}
	sum := past.Sum()
	if last > 0 {
		past.Passes = past.Passes[max(0, len(past.Passes)-last):]
	}
	if a.json {
		return a.printJSON(struct {
			Passes []workflow.HealthPass `json:"passes"`
			Sum    heal.Sum              `json:"repairs"`
		}{past.Passes, sum})
	}
	for _, p := range past.Passes {
		a.print("%s  %s\n", redact.Line(p.StartedAt, 30), a.paint(passColors[p.Result], redact.Line(string(p.Result), 20)))
		for _, r := range p.Repairs {
			a.print("  %s\n", repairLine(&r))
		}
	}
	a.print("repairs: %s\n", sumWords(sum))
	return nil
}

var passColors = map[workflow.HealthResult]string{workflow.PassHealthy: green, workflow.PassRepaired: green, workflow.PassWaiting: yellow,
	workflow.PassCooldown: yellow, workflow.PassFailed: red, workflow.PassCritical: red}

func repairLine(r *workflow.HealthRepair) string {
	line := fmt.Sprintf("%s: %s", redact.Line(r.Check, 40), redact.Line(r.Summary, 120))
	outcome := r.Outcome
	if outcome == "" {
		outcome = "not repaired"
	}
	line += fmt.Sprintf(" → %s", outcome)
	if r.Why != "" {
		line += ": " + redact.Line(r.Why, 160)
	}
	if r.Request != "" {
		line += fmt.Sprintf(" (request %s, run %s, %d calls, %d tokens, $%.2f)", redact.Line(r.Request, 40), redact.Line(r.Run, 40), r.Calls, r.Tokens,
			float64(r.CostMicroUSD)/1e6)
	}
	return line
}

// printReport says what a pass came to.
func (a *app) printReport(r *heal.Report) {
	a.print("%s\n", a.paint(passColors[r.Result], reportWords(r)))
	if r.Health.LastHealthStatus == workflow.HealthCritical {
		a.print("%s\n", criticalAdvice(r.Health))
	}
}

func reportWords(r *heal.Report) string {
	switch r.Result {
	case workflow.PassHealthy:
		return "healthy"
	case workflow.PassRepaired:
		return "repaired; the next pass verifies it"
	case workflow.PassWaiting:
		return "a repair waits"
	case workflow.PassFailed:
		return "a repair failed; the next may begin at " + redact.Line(r.Health.CooldownUntil, 40)
	case workflow.PassCooldown:
		return "cooldown: nothing was done before " + redact.Line(r.Health.CooldownUntil, 40)
	}
	return fmt.Sprintf("critical: %d repairs in a row failed; %d of %d passes since found nothing wrong", r.Health.ContinuousFailureCount,
		r.Health.Loop.HealthyPasses, workflow.HealthyPasses)
}
