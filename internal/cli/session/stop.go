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
		Use:               "stop ISSUE...",
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
