package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/session"
	"signalbox/internal/wire"
)

func newSessionNudge(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "nudge ISSUE TEXT...",
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: offerSessions(a, false, openedSession),
		RunE: func(c *cobra.Command, args []string) error {
			return nudgeSession(c.Context(), a, args[0], strings.Join(args[1:], " "))
		},
	}
}

func nudgeSession(ctx context.Context, a *command.Invocation, ref, text string) error {
	x, info, err := openSession(ctx, a, ref)
	if err != nil {
		return err
	}
	return sessionProblem(x.Nudge(ctx, text), &info)
}

// sessionProblem adds what to do to what a session refuses.
func sessionProblem(err error, info *session.Info) error {
	hints := []struct {
		is   error
		hint string
		code int
	}{
		{session.ErrNoTerminal, "follow it: signalbox session watch %d", problem.General},
		{session.ErrNotRunning, "see what it came to: signalbox session logs %d", problem.General},
		{session.ErrBusy, "look at it: signalbox session attach %d", problem.General},
		{session.ErrText, "type such yourself: signalbox session attach %d", problem.Usage},
	}
	for _, h := range hints {
		if errors.Is(err, h.is) {
			return &problem.Error{Err: err, Hint: fmt.Sprintf(h.hint, info.Issue), Code: h.code}
		}
	}
	return wire.Explained(err)
}
