package heal

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/wire"
)

func newHealStatus(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the self-healing loop's state: health, open errors, past fixes",
		Long: "Show state.json in words, the errors that are not known to be gone with their requests, and how many repairs\n" +
			"succeeded at what cost. Exit code 0 whatever the health is; \"heal gate\" has one for each.",
		Example: "  signalbox heal status\n  signalbox heal status --json | jq .state.last_health_status",
		RunE:    func(c *cobra.Command, _ []string) error { return healStatus(c.Context(), a) },
	}
}

// healing is what "heal status --json" prints.
type healing struct {
	State health.State `json:"state"`
	Gate  health.Gate  `json:"gate"`
	// Holder is who makes a pass at this moment, nil if nobody does.
	Holder *store.LockRecord `json:"holder"`
	// CutOff: a pass is in hand that nobody makes. If it ended with an error, state says with which.
	CutOff bool     `json:"cut_off"`
	Sum    heal.Sum `json:"repairs"`
}

func healStatus(ctx context.Context, a *command.Invocation) error {
	if err := wantsRepository(a); err != nil {
		return err
	}
	at, err := standingOf(ctx, a)
	if err != nil {
		return err
	}
	past, err := healingPast(ctx, a)
	if err != nil {
		return err
	}
	configured, known, err := healthSettings(a)
	if err != nil {
		a.Warn("%s", err)
	}
	s := healing{State: at.state, Gate: at.gate(configured.Every, a.Opener.HealthTime()), Holder: at.holder, CutOff: at.cutOff(), Sum: past.Sum()}
	if known && len(configured.Checks) == 0 && s.Gate.Decision == health.GateGo {
		s.Gate = health.Gate{Decision: health.GateStop, Reason: heal.ErrNoChecks.Error() + "; " + sayWhatToLookAt}
	}
	if a.JSON {
		return a.PrintJSON(s)
	}
	if !at.begun {
		at.state.UpdatedAt = "" // it is written nowhere
	}
	printHealth(a, at.state, s.Gate)
	if attempted := at.state.TotalFixesAttempted; s.Sum.Repairs > 0 || attempted == 0 {
		a.Print(healthLine, "repairs", sumWords(s.Sum))
	}
	for _, e := range at.state.Loop.Errors {
		a.Print("  %-10s %s: %s%s\n", "open", redact.Line(e.ID, 60), redact.Joined(e.Summary, 120), openWords(&e, &at, past))
	}
	for _, u := range at.state.Loop.Unseen {
		a.Print("  %-10s %s: %s\n", "unknown", redact.Line(u.Check, 40), redact.Joined(u.Why, 200))
	}
	if len(at.state.Loop.Unseen) > 0 {
		a.Print("  %-10s %s\n", "", unseenAdvice)
	}
	switch {
	case at.holder != nil:
		a.Print(healthLine, "at it", app.Holder(*at.holder))
	case at.state.Loop.Stopped != "":
		a.Print(healthLine, "stopped", "the last pass ended with an error: "+redact.Line(at.state.Loop.Stopped, 300)+`; what to do, or to go on: signalbox heal`)
	case at.cutOff():
		a.Print("  %-10s the pass that began at %s; go on with it: signalbox heal\n", "cut off", moment(at.state.Loop.Pass.StartedAt))
	}
	printCriticalAdvice(a, at.state)
	return nil
}

// openWords say what is done about an error.
func openWords(e *health.Error, at *standing, past heal.History) string {
	var words []string
	if e.Request != "" {
		words = append(words, "request "+redact.Line(e.Request, 40))
	}
	switch {
	case e.Fixed:
		words = append(words, "repaired, not verified yet")
	case e.Attempting && at.holder != nil:
		words = append(words, "being repaired")
	case e.Attempting && at.cutOff() && at.state.Loop.Stopped != "":
		words = append(words, "its repair ended with an error")
	case e.Attempting && at.cutOff():
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

// healingPast is the log of passes.
func healingPast(ctx context.Context, a *command.Invocation) (heal.History, error) {
	s, err := a.Opener.OpenStoreToRead(ctx)
	if err != nil {
		return heal.History{}, err
	}
	defer func() { _ = s.Close() }()
	past, err := heal.Past(ctx, s)
	return past, wire.Explained(err)
}
