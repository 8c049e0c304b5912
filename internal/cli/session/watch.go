package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"signalbox/internal/app/sessions"
	"signalbox/internal/cli/command"
	"signalbox/internal/session"
	"signalbox/internal/wire"
)

func newSessionWatch(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "watch [ISSUE...]", Args: cobra.ArbitraryArgs, ValidArgsFunction: offerSessions(a, true, running),
		RunE: func(c *cobra.Command, args []string) error {
			chosen, err := chooseSessions(c.Context(), a, args)
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
				watching.Go(func() { results[i] = watchSession(c.Context(), a, x, show, len(chosen) > 1) })
			}
			watching.Wait()
			if c.Context().Err() != nil {
				return nil // watching may stop at any time
			}
			return sessions.Worst(results)
		},
	}
}

func chooseSessions(ctx context.Context, a *command.Invocation, refs []string) ([]sessions.Chosen, error) {
	all, err := openSessions(ctx, a)
	if err != nil {
		return nil, err
	}
	return sessions.Choose(ctx, all, refs)
}

// sessionEvent is one line of watch for programs: a printed line, the number of bytes that were missed, or the session's state.
type sessionEvent struct {
	Issue      int             `json:"issue"`
	Line       string          `json:"line,omitempty"`
	RecordedAt time.Time       `json:"recorded_at,omitzero"`
	Lost       int64           `json:"lost,omitempty"`
	Session    *sessions.Shown `json:"session,omitempty"`
}

func eventOf(issue int, e *session.Event) sessionEvent {
	event := sessionEvent{Issue: issue, Line: e.Line, RecordedAt: e.RecordedAt, Lost: e.Lost}
	if e.Info != nil {
		shown := sessions.Show(e.Info)
		event.Session = &shown
	}
	return event
}

func watchSession(ctx context.Context, a *command.Invocation, x sessions.Chosen, show *sync.Mutex, several bool) error {
	events, err := x.Watch(ctx)
	if err != nil {
		return wire.Explained(err)
	}
	last := x.Info
	said := ""
	for e := range events {
		show.Lock()
		switch {
		case a.JSON:
			err = a.PrintJSONLine(eventOf(last.Issue, &e))
		case e.Info == nil:
			line := e.Line
			if e.Lost > 0 {
				line = fmt.Sprintf("[%d bytes are not shown]", e.Lost)
			}
			if several {
				line = fmt.Sprintf("#%d  %s", last.Issue, line)
			}
			a.Print("%s\n", line)
		default:
			if line := sessions.EndOf(e.Info); line != said {
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
	return sessions.Failed(&last)
}

// sayNext says what there is to do with a session that has an outcome.
func sayNext(a *command.Invocation, i *session.Info) {
	if next := sessions.NextOf(i); next != "" && !a.JSON {
		a.Say(next)
	}
}

func newSessionWait(a *command.Invocation) *cobra.Command {
	w := sessions.Waiting{}
	c := &cobra.Command{
		Use: "wait [ISSUE...]", Args: cobra.ArbitraryArgs, ValidArgsFunction: offerSessions(a, true, nil),
		RunE: func(c *cobra.Command, args []string) error {
			if w.Timeout < 0 {
				return command.UsageError("want a time such as 90s or 2h", "--timeout is %s", w.Timeout)
			}
			chosen, err := chooseSessions(c.Context(), a, args)
			if err != nil {
				return err
			}
			if len(chosen) == 0 && !a.JSON {
				a.Say("no session is running, so there is nothing to wait for; what there was: signalbox session list")
				return nil
			}
			shown := []sessions.Shown{}
			w.Asked = func(info session.Info) { sayAsked(a, info) }
			w.Tell = func(info session.Info, outcome bool) {
				shown = append(shown, sessions.Show(&info))
				switch {
				case a.JSON:
				case !outcome:
					a.Print("#%d is still running\n", info.Issue)
				default:
					a.Print("#%d %s\n", info.Issue, sessions.EndOf(&info))
					sayNext(a, &info)
				}
			}
			worst := w.For(c.Context(), chosen)
			if a.JSON {
				if err := a.PrintJSON(shown); err != nil {
					return err
				}
			}
			return worst
		},
	}
	c.Flags().BoolVar(&w.FailFast, "fail-fast", false, "end at the first error")
	c.Flags().DurationVar(&w.Timeout, "timeout", 0, "how long to wait at most; 0 is for ever")
	return c
}

// sayAsked prints an agent's question on standard error; standard output is for the outcomes.
func sayAsked(a *command.Invocation, info session.Info) {
	line := fmt.Sprintf("#%d %s", info.Issue, sessions.Says(&info))
	if a.JSON {
		data, err := json.Marshal(eventOf(info.Issue, &session.Event{Info: &info}), json.Deterministic(true))
		if err != nil {
			return
		}
		line = string(data)
	}
	a.Say(line)
}
