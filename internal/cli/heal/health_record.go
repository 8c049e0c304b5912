package heal

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
	"signalbox/internal/forge"
	"signalbox/internal/health"
	"signalbox/internal/redact"
)

func newHealthRecord(a *command.Invocation) *cobra.Command {
	var fact health.Fact
	c := &cobra.Command{
		Use:       "record FACT",
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
	recorded, err := healing.Record(ctx, a.Opener, fact)
	tellRestored(a, recorded.Restored, "going on from")
	switch {
	case err != nil:
		return err
	case recorded.Request != nil:
		tellCritical(a, recorded.State, recorded.Request)
	default:
		tellRearmed(a, fact.Kind, recorded.Was, recorded.State.LastHealthStatus)
	}
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

// tellCritical says on standard error that a request is open about a critical state.
func tellCritical(a *command.Invocation, h health.State, request *forge.Request) {
	_, _ = fmt.Fprintf(a.Err, "%s %s; request %s is open about it (%s)\n", a.Paint(command.Red, "critical:"), h.FailedInARow(), request.ID, request.Path)
}
