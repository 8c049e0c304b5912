package heal

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

func newHealStatus(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "status",
		RunE: func(c *cobra.Command, _ []string) error { return healStatus(c.Context(), a) },
	}
}

// loopStatus is what "heal status --json" prints.
type loopStatus struct {
	State health.State `json:"state"`
	Gate  health.Gate  `json:"gate"`
	// Holder is who makes a pass at this moment, nil if nobody does.
	Holder *store.LockRecord `json:"holder"`
	// CutOff: a pass is in hand that nobody makes. If it ended with an error, state says with which.
	CutOff bool     `json:"cut_off"`
	Sum    heal.Sum `json:"repairs"`
}

func healStatus(ctx context.Context, a *command.Invocation) error {
	at, err := healing.StatusOf(ctx, a.Opener)
	tellRestored(a, at.Broken, "deciding by")
	if err != nil {
		return err
	}
	if at.Unsettled != nil {
		a.Warn("%s", at.Unsettled)
	}
	s := loopStatus{State: at.State, Gate: at.Gate, Holder: at.Holder, CutOff: at.CutOff(), Sum: at.Past.Sum()}
	if a.JSON {
		return a.PrintJSON(s)
	}
	if !at.Begun {
		at.State.UpdatedAt = "" // it is written nowhere
	}
	printHealth(a, at.State, s.Gate)
	if attempted := at.State.TotalFixesAttempted; s.Sum.Repairs > 0 || attempted == 0 {
		a.Print(healthLine, "repairs", sumWords(s.Sum))
	}
	for _, e := range at.State.Loop.Errors {
		a.Print("  %-10s %s: %s%s\n", "open", redact.Line(e.ID, 60), redact.Joined(e.Summary, 120), openWords(&e, &at.Standing, at.Past))
	}
	for _, u := range at.State.Loop.Unseen {
		a.Print("  %-10s %s: %s\n", "unknown", redact.Line(u.Check, 40), redact.Joined(u.Why, 200))
	}
	if len(at.State.Loop.Unseen) > 0 {
		a.Print("  %-10s %s\n", "", unseenAdvice)
	}
	switch {
	case at.Holder != nil:
		a.Print(healthLine, "at it", app.Holder(*at.Holder))
	case at.State.Loop.Stopped != "":
		a.Print(healthLine, "stopped", "the last pass ended with an error: "+redact.Line(at.State.Loop.Stopped, 300)+`; what to do, or to go on: signalbox heal`)
	case at.CutOff():
		a.Print("  %-10s the pass that began at %s; go on with it: signalbox heal\n", "cut off", moment(at.State.Loop.Pass.StartedAt))
	}
	printCriticalAdvice(a, at.State)
	return nil
}

// openWords say what is done about an error.
func openWords(e *health.Error, at *healing.Standing, past heal.History) string {
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
		words = append(words, waitWords(e, past))
	case e.Attempts > 0:
		words = append(words, commandline.Count(e.Attempts, "repair")+" failed")
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// waitWords say what the repair of an error waits for, as the pass before found it.
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

func sumWords(s heal.Sum) string {
	if s.Repairs == 0 {
		return "none so far"
	}
	return fmt.Sprintf("%d of %d succeeded (%d %%), %s", s.Fixed, s.Repairs, 100*s.Fixed/s.Repairs, costWords(s.Calls, s.Tokens, s.CostMicroUSD))
}
