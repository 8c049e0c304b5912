package heal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

func newHealStatus(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "status",
		RunE: func(c *cobra.Command, _ []string) error {
			at, err := healing.StatusOf(c.Context(), a.Opener)
			tellRestored(a, at.Broken, "deciding by")
			if err != nil {
				return err
			}
			if at.Unsettled != nil {
				a.Warn("%s", at.Unsettled)
			}
			return a.Show(at.Summary(), func() { printStatus(a, &at) })
		},
	}
}

func printStatus(a *command.Invocation, at *healing.Status) {
	loop := &at.State.Loop
	if !at.Begun {
		at.State.UpdatedAt = "" // there is no file yet
	}
	printHealth(a, at.State, at.Gate)
	if sum := at.Past.Sum(); sum.Repairs > 0 || at.State.TotalFixesAttempted == 0 {
		a.Print(healthLine, "repairs", sumWords(sum))
	}
	for _, e := range loop.Errors {
		a.Print("  %-10s %s: %s%s\n", "open", redact.Line(e.ID, 60), redact.Joined(e.Summary, 120), openWords(&e, at))
	}
	for _, u := range loop.Unseen {
		a.Print("  %-10s %s: %s\n", "unknown", redact.Line(u.Check, 40), redact.Joined(u.Why, 200))
	}
	if len(loop.Unseen) > 0 {
		a.Print(healthLine, "", unseenAdvice)
	}
	switch {
	case at.Holder != nil:
		a.Print(healthLine, "at it", app.Holder(*at.Holder))
	case loop.Stopped != "":
		a.Print(healthLine, "stopped", "the last pass ended with an error: "+redact.Line(loop.Stopped, 300)+`; what to do, or to continue: signalbox heal`)
	case at.CutOff():
		a.Print("  %-10s the pass that began at %s; continue it: signalbox heal\n", "cut off", moment(loop.Pass.StartedAt))
	}
	printCriticalAdvice(a, at.State, at.State.LastHealthStatus == health.Critical)
}

// healthLine is one fact about the loop, under its name.
const healthLine = "  %-10s %s\n"

// printHealth prints state.json and the gate's decision.
func printHealth(a *command.Invocation, h health.State, gate health.Gate) {
	status := redact.Line(h.LastHealthStatus, 300)
	if h.LastHealthStatus == "" {
		status = "-"
	}
	a.Print("Health: %s\n", status)
	a.Print(healthLine, "gate", fmt.Sprintf("%s: %s%s", gate.Decision, redact.Clean(gate.Reason), until(gate)))
	if h.LastErrorID != "" {
		name := "error"
		if h.LastHealthStatus == health.Healthy {
			name = "last error"
		}
		a.Print(healthLine, name, redact.Line(h.LastErrorID, 60)+": "+redact.Joined(h.LastErrorSummary, 300))
	}
	undone, inARow := "", ""
	if h.Loop.Undone > 0 {
		undone = fmt.Sprintf(" (%d did not hold)", h.Loop.Undone)
	}
	if h.ContinuousFailureCount > 0 {
		inARow = "; " + h.FailedInARow()
	}
	a.Print("  %-10s %s, %s detected, %s begun, %d succeeded%s%s\n", "totals", commandline.Count(h.RunCount, "pass"), commandline.Count(h.TotalErrorsDetected, "error"),
		commandline.Count(h.TotalFixesAttempted, "repair"), h.TotalFixesSucceeded, undone, inARow)
	if h.LastAttemptAt != "" {
		a.Print(healthLine, "attempted", "the last repair was begun at "+moment(h.LastAttemptAt))
	}
	if h.UpdatedAt != "" {
		a.Print(healthLine, "written", moment(h.UpdatedAt))
	}
}

// openWords say what is done about an error.
func openWords(e *health.Error, at *healing.Status) string {
	var words []string
	if e.Request != "" {
		words = append(words, "request "+redact.Line(e.Request, 40))
	}
	switch {
	case e.Fixed:
		words = append(words, "repaired, not verified yet")
	case e.Attempting && at.Holder != nil:
		words = append(words, "being repaired")
	case e.Attempting && at.CutOff() && at.State.Loop.Stopped != "":
		words = append(words, "its repair ended with an error")
	case e.Attempting && at.CutOff():
		words = append(words, "its repair was cut off")
	case e.Attempting:
		words = append(words, waitWords(e, at.Past))
	case e.Attempts > 0:
		words = append(words, commandline.Count(e.Attempts, "repair")+" failed")
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// waitWords say what the repair of an error waits for, as the last pass found it.
func waitWords(e *health.Error, past heal.History) string {
	for _, p := range slices.Backward(past.Passes) {
		for _, r := range p.Repairs {
			if r.ErrorID == e.ID && r.Outcome == health.RepairWaiting {
				return redact.Line(commandline.Sentence(r.Why, r.Next), 160)
			}
		}
	}
	return "its repair is not over"
}

func newHealLog(a *command.Invocation) *cobra.Command {
	var last int
	c := &cobra.Command{
		Use: "log",
		RunE: func(c *cobra.Command, _ []string) error {
			if last < 0 {
				return command.UsageError("want a number of passes, or 0 for all", "--last is %d", last)
			}
			past, err := healing.Past(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			sum := past.Sum()
			if last > 0 {
				past.Passes = past.Passes[max(0, len(past.Passes)-last):]
			}
			return a.Show(struct {
				Passes []health.Pass `json:"passes"`
				Sum    heal.Sum      `json:"repairs"`
			}{past.Passes, sum}, func() {
				for _, p := range past.Passes {
					again := ""
					if p.Again > 0 {
						again = fmt.Sprintf(" ×%d, last at %s", p.Again+1, moment(p.LastAt))
					}
					a.Print("%s  %s%s\n", moment(p.StartedAt), a.Paint(passColors[p.Result], redact.Line(string(p.Result), 20)), again)
					for _, r := range p.Repairs {
						a.Print("  %s\n", repairLine(&r))
					}
				}
				a.Print("repairs: %s\n", sumWords(sum))
			})
		},
	}
	c.Flags().IntVar(&last, "last", 20, "how many passes; 0 is all")
	return c
}

var passColors = map[health.Result]string{health.PassHealthy: command.Green, health.PassRepaired: command.Green, health.PassWaiting: command.Yellow,
	health.PassCooldown: command.Yellow, health.PassUnknown: command.Yellow, health.PassFailed: command.Red, health.PassCritical: command.Red}

func repairLine(r *health.Repair) string {
	outcome := string(r.Outcome)
	if outcome == "" {
		outcome = "not repaired"
	}
	line := fmt.Sprintf("%s: %s → %s", redact.Line(r.Check, 40), redact.Joined(r.Summary, 120), outcome)
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

func sumWords(s heal.Sum) string {
	if s.Repairs == 0 {
		return "none so far"
	}
	return fmt.Sprintf("%d of %d succeeded (%d %%), %s", s.Fixed, s.Repairs, 100*s.Fixed/s.Repairs, costWords(s.Calls, s.Tokens, s.CostMicroUSD))
}

// costWords say what agents used, as far as it is known.
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

// moment shows a time of the loop's documents on the person's clock.
func moment(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return redact.Line(text, 30)
	}
	return commandline.When(at)
}
