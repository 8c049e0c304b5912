package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/session"
	"signalbox/internal/wire"
)

func newSessionWatch(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "watch [ISSUE...]",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: offerSessions(a, true, openedSession),
		RunE:              func(c *cobra.Command, args []string) error { return watchSessions(c.Context(), a, args) },
	}
}

// sessionEvent is one line of watch for programs: a line that was printed, how many bytes were missed,
// or where the session stands.
type sessionEvent struct {
	Issue      int           `json:"issue"`
	Line       string        `json:"line,omitempty"`
	RecordedAt time.Time     `json:"recorded_at,omitzero"`
	Lost       int64         `json:"lost,omitempty"`
	Session    *shownSession `json:"session,omitempty"`
}

func watchSessions(ctx context.Context, a *command.Invocation, refs []string) error {
	chosen, err := chosenSessions(ctx, a, refs)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		a.Say("no session is running; start one: signalbox session start ISSUE")
		return nil
	}
	var watching sync.WaitGroup
	results, show := make([]error, len(chosen)), &sync.Mutex{}
	for i, x := range chosen {
		watching.Go(func() { results[i] = watchSession(ctx, a, x, show, len(chosen) > 1) })
	}
	watching.Wait()
	if ctx.Err() != nil {
		return nil // who watches may look away
	}
	return worstOf(results)
}

// chosenSession is a session to follow.
type chosenSession struct {
	*session.Session
	info session.Info
}

// chosenSessions are those of the issues named, or all that have not ended.
func chosenSessions(ctx context.Context, a *command.Invocation, refs []string) (chosen []chosenSession, err error) {
	all, err := openSessions(ctx, a)
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		live, err := app.LiveSessions(ctx, all)
		if err != nil {
			return nil, err
		}
		for _, info := range live {
			refs = append(refs, info.Name)
		}
	}
	for _, ref := range refs {
		x, info, err := app.OpenSession(ctx, all, ref)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, chosenSession{x, info})
	}
	return chosen, nil
}

func watchSession(ctx context.Context, a *command.Invocation, x chosenSession, show *sync.Mutex, several bool) error {
	events, err := x.Watch(ctx)
	if err != nil {
		return wire.Explained(err)
	}
	last := x.info
	said := ""
	for e := range events {
		show.Lock()
		switch {
		case a.JSON:
			err = a.PrintJSONLine(eventOf(last.Issue, &e))
		case e.Info == nil:
			printSessionLine(a, last.Issue, several, e)
		default:
			if line := endOfSession(e.Info); line != said {
				said = line
				a.Print("%s\n", a.Paint(command.Bold, fmt.Sprintf("== #%d %s", last.Issue, line)))
			}
		}
		show.Unlock()
		if e.Info != nil {
			last = *e.Info
		}
		if err != nil {
			return err
		}
	}
	show.Lock()
	sayNext(a, &last)
	show.Unlock()
	return sessionEnded(&last)
}

func eventOf(issue int, e *session.Event) sessionEvent {
	event := sessionEvent{Issue: issue, Line: e.Line, RecordedAt: e.RecordedAt, Lost: e.Lost}
	if e.Info != nil {
		shown := showSession(e.Info)
		event.Session = &shown
	}
	return event
}

func printSessionLine(a *command.Invocation, issue int, several bool, e session.Event) {
	line := e.Line
	if e.Lost > 0 {
		line = fmt.Sprintf("[%d bytes are not shown]", e.Lost)
	}
	if several {
		line = fmt.Sprintf("#%d  %s", issue, line)
	}
	a.Print("%s\n", line)
}

// worstOf is the first error with words of its own, or else the first.
func worstOf(results []error) (worst error) {
	for _, err := range results {
		if err != nil && (worst == nil || worst.Error() == "") {
			worst = err
		}
	}
	return worst
}
