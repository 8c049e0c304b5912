// Package session holds "signalbox session": agents that a person starts, watches and ends.
package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/app/sessions"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/session"
	"signalbox/internal/wire"
)

func New(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{Use: "session"}
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

func running(i *session.Info) bool { return i.EndedAt == nil }

// offerSessions completes the issues of the sessions that the command takes; nil takes all.
func offerSessions(a *command.Invocation, several bool, takes func(*session.Info) bool) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
		all, err := openSessions(c.Context(), a)
		if err != nil || len(args) > 0 && !several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, _ := all.List(c.Context())
		for _, info := range list {
			if number := strconv.Itoa(info.Issue); (takes == nil || takes(&info)) && strings.HasPrefix(number, begun) {
				words = append(words, cobra.CompletionWithDesc(number, fmt.Sprintf("%s, %s", redact.Line(info.Agent, 60), app.SessionState(&info))))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func newSessionList(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "list", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := openSessions(c.Context(), a)
			if err != nil {
				return err
			}
			list, err := all.List(c.Context())
			if err != nil {
				return wire.Explained(err)
			}
			shown, rows := []sessions.Shown{}, [][]string{}
			for i := range list {
				s := &list[i]
				shown = append(shown, sessions.Show(s))
				rows = append(rows, []string{fmt.Sprintf("#%d", s.Issue), string(app.SessionState(s)), s.Agent, string(s.Mode), commandline.When(s.StartedAt), sessions.Says(s)})
			}
			if len(list) == 0 && !a.JSON {
				a.Say("there is no session; start one: signalbox session start ISSUE")
				return nil
			}
			return a.Show(shown, func() { a.PrintTable("ISSUE\tSTATUS\tAGENT\tMODE\tSINCE\tSAYS", rows) })
		},
	}
}

func newSessionStop(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "stop ISSUE...", Args: cobra.MinimumNArgs(1), ValidArgsFunction: offerSessions(a, true, running),
		RunE: func(c *cobra.Command, args []string) error {
			all, err := openSessions(c.Context(), a)
			if err != nil {
				return err
			}
			shown, problems := []sessions.Shown{}, []error(nil)
			for _, ref := range args {
				x, before, err := app.OpenSession(c.Context(), all, ref)
				after := before
				if err == nil {
					err = x.Stop(c.Context())
				}
				if err == nil {
					after, err = x.Info(c.Context())
				}
				switch {
				case err != nil:
					problems = append(problems, err)
					continue
				case a.JSON:
				case before.EndedAt != nil:
					a.Print("had ended already: %s\n", before.Name)
				default:
					a.Print("stopped %s\n", before.Name)
				}
				shown = append(shown, sessions.Show(&after))
			}
			if a.JSON {
				problems = append(problems, a.PrintJSON(shown))
			}
			return errors.Join(problems...)
		},
	}
}
