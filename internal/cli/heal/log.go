package heal

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

func newHealLog(a *command.Invocation) *cobra.Command {
	var last int
	c := &cobra.Command{
		Use:  "log",
		RunE: func(c *cobra.Command, _ []string) error { return healLog(c.Context(), a, last) },
	}
	c.Flags().IntVar(&last, "last", 20, "how many passes; 0 is all")
	return c
}

func healLog(ctx context.Context, a *command.Invocation, last int) error {
	if last < 0 {
		return &problem.Error{Err: fmt.Errorf("--last is %d", last), Hint: "want a number of passes, or 0 for all", Code: problem.Usage}
	}
	past, err := healing.Past(ctx, a.Opener)
	if err != nil {
		return err
	}
	sum := past.Sum()
	if last > 0 {
		past.Passes = past.Passes[max(0, len(past.Passes)-last):]
	}
	if a.JSON {
		return a.PrintJSON(struct {
			Passes []health.Pass `json:"passes"`
			Sum    heal.Sum      `json:"repairs"`
		}{past.Passes, sum})
	}
	for _, p := range past.Passes {
		a.Print("%s  %s%s\n", moment(p.StartedAt), a.Paint(passColors[p.Result], redact.Line(string(p.Result), 20)), againWords(&p))
		for _, r := range p.Repairs {
			a.Print("  %s\n", repairLine(&r))
		}
	}
	a.Print("repairs: %s\n", sumWords(sum))
	return nil
}

var passColors = map[health.Result]string{health.PassHealthy: command.Green, health.PassRepaired: command.Green, health.PassWaiting: command.Yellow,
	health.PassCooldown: command.Yellow, health.PassUnknown: command.Yellow, health.PassFailed: command.Red, health.PassCritical: command.Red}

// againWords say how often a pass was repeated that came to the same.
func againWords(p *health.Pass) string {
	if p.Again == 0 {
		return ""
	}
	return fmt.Sprintf(" ×%d, last at %s", p.Again+1, moment(p.LastAt))
}

func repairLine(r *health.Repair) string {
	line := fmt.Sprintf("%s: %s", redact.Line(r.Check, 40), redact.Joined(r.Summary, 120))
	outcome := r.Outcome
	if outcome == "" {
		outcome = "not repaired"
	}
	line += fmt.Sprintf(" → %s", outcome)
	if r.Why != "" {
		line += ": " + redact.Line(commandline.Sentence(r.Why, r.Next), 160)
	}
	switch {
	case r.Request == "":
	case r.Run == "":
		line += fmt.Sprintf(" (request %s)", redact.Line(r.Request, 40))
	default:
		line += fmt.Sprintf(" (request %s, run %s, %s)", redact.Line(r.Request, 40), redact.Line(r.Run, 40), costWords(r.Calls, r.Tokens, r.CostMicroUSD))
	}
	return line
}

// costWords say what agents used, as far as they say.
func costWords(calls int, tokens, microUSD int64) string {
	used := workflow.Usage{OutputTokens: tokens, CostMicroUSD: microUSD}.String()
	switch {
	case calls == 0:
		return "no call of an agent"
	case used == "":
		used = "cost unknown"
	case microUSD == 0:
		used += ", cost unknown"
	}
	return commandline.Count(calls, "call") + " of agents, " + used
}

// moment is a time of the loop's documents where people read it, as their clocks show it.
func moment(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return redact.Line(text, 30)
	}
	return commandline.When(at)
}
