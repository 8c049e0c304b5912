package session

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
)

func newSessionStop(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "stop ISSUE...",
		Short: "Stop sessions and everything their agents started",
		Long: "End the agents of these issues, politely first. What they left in the files stays in the environment. A session\n" +
			"that has not said what it came to is an error from here on. One that has ended is none to stop, and no error. --json: what each of them came to, as session list has it.",
		Example:           "  signalbox session stop 42",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: offerSessions(a, true, openedSession),
		RunE:              func(c *cobra.Command, args []string) error { return stopSessions(c.Context(), a, args) },
	}
}

func stopSessions(ctx context.Context, a *command.Invocation, refs []string) error {
	all, err := openSessions(ctx, a)
	if err != nil {
		return err
	}
	shown, problems := []shownSession{}, []error(nil)
	for _, ref := range refs {
		x, before, err := app.OpenSession(ctx, all, ref)
		after := before
		if err == nil {
			err = x.Stop(ctx)
		}
		if err == nil {
			after, err = x.Info(ctx)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		word := "stopped"
		if before.EndedAt != nil {
			word = "had ended already:"
		}
		shown = append(shown, showSession(&after))
		if !a.JSON {
			a.Print("%s %s\n", word, before.Name)
		}
	}
	if a.JSON {
		problems = append(problems, a.PrintJSON(shown))
	}
	return errors.Join(problems...)
}
