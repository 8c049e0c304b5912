package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/heal"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

func newHealStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show where the self-healing loop stands: health, open errors and what repairs came to",
		Long: "Show state.json in words, the errors that are not known to be gone with their requests, and how many repairs\n" +
			"succeeded at what cost. Exit code 0 whatever the health is; \"heal gate\" has one for each.",
		Example: "  signalbox heal status\n  signalbox heal status --json | jq .state.last_health_status",
		RunE:    func(c *cobra.Command, _ []string) error { return a.healStatus(c.Context()) },
	}
}

// healing is what "heal status --json" prints.
type healing struct {
	State workflow.Health `json:"state"`
	Gate  workflow.Gate   `json:"gate"`
	// Holder is who makes a pass at this moment, nil if nobody does.
	Holder *store.LockRecord `json:"holder"`
	Sum    heal.Sum          `json:"repairs"`
}

func (a *app) healStatus(ctx context.Context) error {
	h, err := a.healthToJudge(ctx)
	if err != nil {
		return err
	}
	past, held, err := a.healingPast(ctx)
	if err != nil {
		return err
	}
	configured, _ := a.healthSettings()
	s := healing{State: h, Gate: h.Gate(configured.Every, now()), Holder: held, Sum: past.Sum()}
	if a.json {
		return a.printJSON(s)
	}
	a.printHealth(h, s.Gate)
	a.print("  %-9s %s\n", "repairs", sumWords(s.Sum))
	for _, e := range h.Loop.Errors {
		a.print("  %-9s %s: %s%s\n", "open", redact.Line(e.ID, 60), redact.Line(e.Summary, 120), openWords(&e))
	}
	if held != nil {
		a.print("  %-9s %s\n", "at it", holder(*held))
	}
	return nil
}

// openWords say what is done about an error.
func openWords(e *workflow.HealthError) string {
	var words []string
	if e.Request != "" {
		words = append(words, "request "+redact.Line(e.Request, 40))
	}
	switch {
	case e.Fixed:
		words = append(words, "repaired, not verified yet")
	case e.Attempting:
		words = append(words, "being repaired")
	case e.Attempts > 0:
		words = append(words, fmt.Sprintf("%d repairs failed", e.Attempts))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

func sumWords(s heal.Sum) string {
	if s.Repairs == 0 {
		return "none so far"
	}
	return fmt.Sprintf("%d of %d succeeded (%d %%), %d calls of agents, %d tokens, $%.2f", s.Fixed, s.Repairs, 100*s.Fixed/s.Repairs, s.Calls, s.Tokens,
		float64(s.CostMicroUSD)/1e6)
}

// healingPast is the log of passes, and who makes one at this moment.
func (a *app) healingPast(ctx context.Context) (heal.History, *store.LockRecord, error) {
	s, err := a.openStoreToRead(ctx)
	if err != nil {
		return heal.History{}, nil, err
	}
	defer func() { _ = s.Close() }()
	past, err := heal.Past(ctx, s)
	if err != nil {
		return past, nil, explained(err)
	}
	held, err := s.Healing(ctx)
	return past, held, explained(err)
}
