package heal

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

func newHealthRecord(a *command.Invocation) *cobra.Command {
	var fact health.Fact
	c := &cobra.Command{
		Use:   "record FACT",
		Short: "Report a fact of the self-healing loop",
		Long: "Report what the repair layer found or did:\n\n" +
			"  healthy         a look found nothing; while an error is open, the next look verifies it\n  error-detected  a look found the error --error-id\n  fix-attempted   a repair was begun\n" +
			"  fix-succeeded   it went well; the next pass verifies it\n  fix-failed      it went wrong; the next one waits 300 seconds\n" +
			"  rearmed         a person acted on a critical state: repairs begin again; nothing in any other state\n\n" +
			"The third failure in a row makes the state critical and opens a request about it, once. A state.json that\n" +
			"cannot be read is restored first.",
		Example: "  signalbox health record healthy\n  signalbox health record error-detected --error-id db --summary 'connection refused'\n" +
			"  signalbox health record fix-attempted\n  signalbox health record fix-failed",
		Args:      cobra.ExactArgs(1),
		ValidArgs: factWords(),
		RunE: func(c *cobra.Command, args []string) error {
			fact.Kind = health.FactKind(args[0])
			return record(c.Context(), a, fact)
		},
	}
	c.Flags().StringVar(&fact.ErrorID, "error-id", "", "which error, in one word (error-detected)")
	c.Flags().StringVar(&fact.Summary, "summary", "", "the error in one sentence (error-detected)")
	return c
}

func factWords() (words []cobra.Completion) {
	for _, kind := range health.FactKinds {
		words = append(words, string(kind))
	}
	return words
}

func record(ctx context.Context, a *command.Invocation, fact health.Fact) error {
	if err := fact.Validate(); err != nil {
		return &problem.Error{Err: err, Hint: `see "signalbox health record --help"`, Code: problem.Usage}
	}
	fact.Summary = redact.Named(redact.Clean(fact.Summary))
	var h health.State
	var was string
	err := withHealth(ctx, a, func(doc *store.Document[health.State]) error {
		restoration, err := doc.Restore(ctx)
		if err != nil {
			return err
		}
		tellRestored(a, restoration, "going on from")
		return doc.Update(ctx, func(state *health.State) error {
			was = state.LastHealthStatus
			_, err := state.Record(fact, a.Opener.HealthTime())
			h = *state
			return err
		})
	})
	if err != nil {
		return err
	}
	if h.CriticalKey() != "" && h.Loop.Request == "" {
		return escalate(ctx, a)
	}
	tellRearmed(a, fact.Kind, was, h.LastHealthStatus)
	return nil
}

// tellRearmed says what a person's word came to.
func tellRearmed(a *command.Invocation, fact health.FactKind, was, is string) {
	switch {
	case fact == health.FactRearmed && was != health.Critical:
		a.Print("the state is %s, not critical: nothing to rearm\n", redact.Line(is, 60))
	case fact == health.FactRearmed:
		a.Print("rearmed; look at once, and repair what still fails: signalbox heal\n")
	case fact == health.FactHealthy && is != health.Healthy:
		a.Print("noted; errors are open that nobody saw gone, so a look is due: signalbox heal\n")
	}
}

// escalate opens the request about a critical state. It comes after the state
// was saved and finds what it opened by the state's key, so that it may be cut
// off and repeated at any instant.
func escalate(ctx context.Context, a *command.Invocation) error {
	p, err := a.Open(ctx)
	if err != nil {
		return notEscalated(err)
	}
	defer func() { _ = p.Store.Close() }()
	doc := p.Store.Health()
	h, err := loadOrLost(ctx, doc)
	if err != nil {
		return restorable(err)
	}
	key := h.CriticalKey()
	if key == "" {
		return &problem.Error{Err: errors.New("the state is not critical; there is nothing to open a request about"), Hint: `see it: signalbox health show`}
	}
	request, err := heal.Escalate(ctx, p.Forge, p.Redact, h)
	if err != nil {
		return notEscalated(err)
	}
	err = doc.Update(ctx, func(state *health.State) error {
		if state.CriticalKey() == key {
			state.Loop.Request = request.ID
		}
		return nil
	})
	if err != nil {
		return restorable(err)
	}
	_, _ = fmt.Fprintf(a.Err, "%s %s; request %s is open about it (%s)\n", a.Paint(command.Red, "critical:"), h.FailedInARow(), request.ID, request.Path)
	return nil
}

func notEscalated(err error) error {
	return &problem.Error{Err: fmt.Errorf("the fact is recorded and the state critical, but no request is open about it: %w", err),
		Hint: `once that's fixed: signalbox health escalate`}
}
