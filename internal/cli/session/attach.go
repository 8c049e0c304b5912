package session

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/session"
	"signalbox/internal/wire"
)

func newSessionAttach(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "attach ISSUE",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: offerSessions(a, false, openedSession),
		RunE: func(c *cobra.Command, args []string) error {
			x, info, err := openSession(c.Context(), a, args[0])
			if err != nil {
				return err
			}
			return attach(c.Context(), a, x, &info)
		},
	}
}

func attach(ctx context.Context, a *command.Invocation, x *session.Session, info *session.Info) error {
	left, err := sitDown(ctx, a, x)
	if err != nil {
		return sessionProblem(err, info)
	}
	if left {
		a.Say(fmt.Sprintf("\nleft; the session goes on: signalbox session attach %d", info.Issue))
		return nil
	}
	after, err := x.Info(ctx)
	if err != nil {
		return wire.Explained(err)
	}
	a.Say(fmt.Sprintf("\nthe session has ended: %s", endOfSession(&after)))
	return sessionEnded(&after)
}

// sitDown joins the person's terminal to the session's until they leave or it ends. Afterwards the
// terminal is as it was: what is printed to a raw one begins where the line before ended.
func sitDown(ctx context.Context, a *command.Invocation, x *session.Session) (left bool, err error) {
	at := session.Attachment{In: a.In, Out: a.Bare.Out}
	if file, ok := a.In.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		var before *term.State
		if before, err = term.MakeRaw(int(file.Fd())); err != nil {
			return false, fmt.Errorf("prepare terminal: %w", err)
		}
		defer func() { err = errors.Join(err, term.Restore(int(file.Fd()), before)) }()
		resize, stop := command.Sizes(file)
		defer stop()
		at.Size, at.Resize = command.SizeOf(file), resize
	}
	return x.Attach(ctx, at)
}

// endOfSession is what a session came to, for people.
func endOfSession(i *session.Info) string {
	if says := sessionSays(i); says != "" {
		return fmt.Sprintf("%s: %s", app.SessionState(i), says)
	}
	return string(app.SessionState(i))
}
