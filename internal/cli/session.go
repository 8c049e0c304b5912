package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/session"
	"signalbox/internal/session/terminal"
	"signalbox/internal/store"
	"signalbox/internal/wire"
)

func newSession(a *invocation) *cobra.Command {
	c := &cobra.Command{
		Use:   "session",
		Short: "Work on issues with agents in interactive sessions",
		Long: "A session is one agent at work on one issue, in the issue's environment, held by a small process that survives this\n" +
			"command: it records what the agent prints, finds out what it came to, and keeps .worktrees/.status/<issue>.json.\n" +
			"Nothing is merged by a session; \"signalbox run\" carries an issue to its merge.",
		Example: "  signalbox session start 42\n  signalbox session attach 42\n  signalbox session wait 42\n  signalbox session run-batch 41 42 43 --dry-run",
	}
	c.AddCommand(newSessionStart(a), newSessionList(a), newSessionAttach(a), newSessionWatch(a), newSessionWait(a), newSessionNudge(a),
		newSessionStop(a), newSessionLogs(a), newSessionCleanup(a), newSessionRunBatch(a))
	return c
}

// openSessions opens the project's sessions. It needs no git and starts no program.
func (a *invocation) openSessions(ctx context.Context) (*session.Sessions, error) {
	s, err := a.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	return sessionsOf(s)
}

func sessionsOf(s *store.Store) (*session.Sessions, error) {
	root, err := s.Abs(".")
	return &session.Sessions{Root: root, Store: s, Clock: now, Publish: publishSession}, err
}

// publishSession writes the status of a session's issue (S1). What was written since is left: it is
// of somebody who went on.
func publishSession(ctx context.Context, s *store.Store, info session.Info) error {
	word, message, at := registry.IssueRunning, "", info.StartedAt
	if o := info.Outcome; o != nil {
		word, at = registry.IssueComplete, o.At
		if o.Kind == terminal.Error {
			word, message = registry.IssueError, cmp.Or(o.Message, "the agent reported an error and said no more")
		}
	}
	return s.IssueStatus(info.Issue).Update(ctx, func(status *registry.IssueStatus) error {
		if info.Outcome == nil || !status.Timestamp.After(at) {
			status.Set(word, info.Name, message, at)
			status.Timestamp = at.UTC() // to the nanosecond: it is compared with a run's
		}
		return nil
	})
}

// settleSessions finds the sessions that were killed together with their hosts, and writes down that
// they ended. Nobody else does: who is killed says nothing.
func settleSessions(ctx context.Context, s *store.Store) error {
	names, err := s.Sessions(ctx)
	if err != nil || len(names) == 0 {
		return err
	}
	all, err := sessionsOf(s)
	if err == nil {
		_, err = all.List(ctx)
	}
	return err
}

func (a *invocation) openSession(ctx context.Context, ref string) (*session.Session, session.Info, error) {
	all, err := a.openSessions(ctx)
	if err != nil {
		return nil, session.Info{}, err
	}
	return openSession(ctx, all, ref)
}

// openSession finds the session of an issue, by its number or its own name.
func openSession(ctx context.Context, all *session.Sessions, ref string) (*session.Session, session.Info, error) {
	name := ref
	if issueNumber().MatchString(ref) {
		n, err := parseIssue(ref)
		if err != nil {
			return nil, session.Info{}, err
		}
		name = session.Name("", n)
	}
	x, err := all.Open(ctx, name)
	var info session.Info
	if err == nil {
		info, err = x.Info(ctx)
	}
	if errors.Is(err, session.ErrNotFound) || errors.Is(err, store.ErrName) {
		err = &problem.Error{Err: fmt.Errorf("there is no session of %q", ref), Code: problem.NotFound,
			Hint: "see which there are: signalbox session list"}
	}
	return x, info, wire.Explained(err)
}

// liveSessions are those whose agent has not ended.
func liveSessions(ctx context.Context, all *session.Sessions) (live []session.Info, err error) {
	list, err := all.List(ctx)
	for _, info := range list {
		if info.EndedAt == nil {
			live = append(live, info)
		}
	}
	return live, wire.Explained(err)
}

// sessionState is where a session stands, in a word of the status file.
func sessionState(i *session.Info) registry.IssueStatusWord {
	switch {
	case i.Outcome == nil:
		return registry.IssueRunning
	case i.Outcome.Kind == terminal.Complete:
		return registry.IssueComplete
	}
	return registry.IssueError
}

// sessionSays is what there is to say of a session, on one line.
func sessionSays(i *session.Info) string {
	asked := askedBy(i)
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
func (a *invocation) offerSessions(several bool, wanted func(*session.Info) bool) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
		all, err := a.openSessions(c.Context())
		if err != nil || len(args) > 0 && !several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, _ := all.List(c.Context())
		for _, info := range list {
			if number := strconv.Itoa(info.Issue); wanted(&info) && strings.HasPrefix(number, begun) {
				words = append(words, cobra.CompletionWithDesc(number, fmt.Sprintf("%s, %s", redact.Line(info.Agent, 60), sessionState(&info))))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func anySession(*session.Info) bool      { return true }
func openedSession(i *session.Info) bool { return i.EndedAt == nil }
func overSession(i *session.Info) bool   { return i.EndedAt != nil }
