package session

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/session"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newSessionList(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "list",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return listSessions(c.Context(), a) },
	}
}

// shownSession is a session for programs.
type shownSession struct {
	Issue   int                      `json:"issue"`
	Status  registry.IssueStatusWord `json:"status"`
	Message string                   `json:"message"`
	Name    string                   `json:"session"`
	Agent   string                   `json:"agent"`
	Mode    session.Mode             `json:"mode"`
	// Source is how Status became known: report, marker, end, stop or gone; empty while it runs.
	Source   session.Source `json:"source"`
	Progress string         `json:"progress"`
	// Question is what its agent asks and waits with; null where it asks nothing.
	Question  *workflow.Question `json:"question"`
	HostPID   int                `json:"host_pid"`
	StartedAt time.Time          `json:"started_at"`
	EndedAt   *time.Time         `json:"ended_at"`
	ExitCode  *int               `json:"exit_code"`
	Notes     []string           `json:"notes"`
}

func showSession(i *session.Info) shownSession {
	s := shownSession{Issue: i.Issue, Status: app.SessionState(i), Name: i.Name, Agent: i.Agent, Mode: i.Mode, Progress: i.Progress, Question: app.AskedBy(i),
		HostPID: i.HostPID, StartedAt: i.StartedAt, EndedAt: i.EndedAt, ExitCode: i.ExitCode, Notes: i.Notes}
	if i.Outcome != nil {
		s.Message, s.Source = i.Outcome.Message, i.Outcome.Source
	}
	return s
}

func listSessions(ctx context.Context, a *command.Invocation) error {
	all, err := openSessions(ctx, a)
	if err != nil {
		return err
	}
	list, err := all.List(ctx)
	if err != nil {
		return wire.Explained(err)
	}
	if a.JSON {
		shown := []shownSession{}
		for i := range list {
			shown = append(shown, showSession(&list[i]))
		}
		return a.PrintJSON(shown)
	}
	if len(list) == 0 {
		a.Say("there is no session; start one: signalbox session start ISSUE")
		return nil
	}
	out, flush := a.Columns("ISSUE", "STATUS", "AGENT", "MODE", "SINCE", "SAYS")
	for i := range list {
		s := &list[i]
		_, _ = fmt.Fprintf(out, "#%d\t%s\t%s\t%s\t%s\t%s\n", s.Issue, app.SessionState(s), redact.Line(s.Agent, 60), redact.Line(string(s.Mode), 20),
			commandline.When(s.StartedAt), sessionSays(s))
	}
	return flush()
}
