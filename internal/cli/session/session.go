// Package session holds "signalbox session": agents that a person starts, watches and ends by themselves.
package session

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/session"
	"signalbox/internal/session/terminal"
)

func New(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use: "session",
	}
	c.AddCommand(newSessionStart(a), newSessionList(a), newSessionAttach(a), newSessionWatch(a), newSessionWait(a), newSessionNudge(a),
		newSessionStop(a), newSessionLogs(a), newSessionCleanup(a), newSessionRunBatch(a))
	return c
}

// openSessions opens the project's sessions. It needs no git and starts no program.
func openSessions(ctx context.Context, a *command.Invocation) (*session.Sessions, error) {
	s, err := a.Opener.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	return app.SessionsOf(s)
}

func openSession(ctx context.Context, a *command.Invocation, ref string) (*session.Session, session.Info, error) {
	all, err := openSessions(ctx, a)
	if err != nil {
		return nil, session.Info{}, err
	}
	return app.OpenSession(ctx, all, ref)
}

// sessionSays is what there is to say of a session, on one line.
func sessionSays(i *session.Info) string {
	asked := app.AskedBy(i)
	switch {
	case asked != nil:
		return fmt.Sprintf("waits for an answer (signalbox answer %d): %s", i.Issue, redact.Line(asked.Line1(), 120))
	case i.Outcome == nil:
		return redact.Line(i.Progress, 200)
	case i.EndedAt == nil:
		return strings.TrimPrefix(redact.Line(i.Outcome.Message, 200)+"; its agent is still there", "; ")
	}
	return redact.Line(i.Outcome.Message, 200)
}

// sessionEnded is the exit code of what a session came to.
func sessionEnded(i *session.Info) error {
	if i.Outcome != nil && i.Outcome.Kind == terminal.Error {
		return &problem.Error{Code: problem.Failed}
	}
	return nil
}

// offerSessions completes the issues whose sessions are wanted.
func offerSessions(a *command.Invocation, several bool, wanted func(*session.Info) bool) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
		all, err := openSessions(c.Context(), a)
		if err != nil || len(args) > 0 && !several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, _ := all.List(c.Context())
		for _, info := range list {
			if number := strconv.Itoa(info.Issue); wanted(&info) && strings.HasPrefix(number, begun) {
				words = append(words, cobra.CompletionWithDesc(number, fmt.Sprintf("%s, %s", redact.Line(info.Agent, 60), app.SessionState(&info))))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func anySession(*session.Info) bool      { return true }
func openedSession(i *session.Info) bool { return i.EndedAt == nil }
func overSession(i *session.Info) bool   { return i.EndedAt != nil }
