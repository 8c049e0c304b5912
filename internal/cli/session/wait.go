package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"signalbox/internal/app/sessions"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/session"
	"signalbox/internal/wire"
)

func newSessionWait(a *command.Invocation) *cobra.Command {
	var failFast bool
	var timeout time.Duration
	c := &cobra.Command{
		Use:               "wait [ISSUE...]",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: offerSessions(a, true, anySession),
		RunE: func(c *cobra.Command, args []string) error {
			if timeout < 0 {
				return &problem.Error{Err: fmt.Errorf("--timeout is %s", timeout), Hint: "want a time such as 90s or 2h", Code: problem.Usage}
			}
			return waitForSessions(c.Context(), a, args, failFast, timeout)
		},
	}
	c.Flags().BoolVar(&failFast, "fail-fast", false, "end at the first error")
	c.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait at most; 0 is for ever")
	return c
}

func waitForSessions(ctx context.Context, a *command.Invocation, refs []string, failFast bool, timeout time.Duration) error {
	chosen, err := chosenSessions(ctx, a, refs)
	if err != nil {
		return err
	}
	if len(chosen) == 0 && !a.JSON {
		a.Say("no session is running, so there is nothing to wait for; what there was: signalbox session list")
		return nil
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	if timeout > 0 {
		waiting, stop = context.WithTimeout(ctx, timeout)
		defer stop()
	}
	type result struct {
		info session.Info
		err  error
	}
	results := make(chan result)
	for _, x := range chosen {
		go func() {
			info, err := x.WaitHearing(waiting, sessions.NewQuestions(func(info session.Info) { sayAsked(a, info) }))
			if err != nil {
				info = x.info
			}
			results <- result{info, err}
		}()
	}
	shown, problems := []shownSession{}, []error{}
	for range chosen {
		r := <-results
		switch {
		case r.err != nil && waiting.Err() != nil:
			problems = append(problems, stillRunning(a, ctx, waiting, &r.info))
		case r.err != nil:
			problems = append(problems, wire.Explained(r.err))
		default:
			if err := sessionEnded(&r.info); err != nil {
				problems = append(problems, err)
				if failFast {
					stop()
				}
			}
			if !a.JSON {
				a.Print("#%d %s\n", r.info.Issue, endOfSession(&r.info))
				sayNext(a, &r.info)
			}
		}
		shown = append(shown, showSession(&r.info))
	}
	if a.JSON {
		err = a.PrintJSON(shown)
	}
	return errors.Join(err, worstOf(problems))
}

// sayAsked says what an agent waits with, beside the output, which is what sessions come to.
func sayAsked(a *command.Invocation, info session.Info) {
	line := fmt.Sprintf("#%d %s", info.Issue, sessionSays(&info))
	if a.JSON {
		data, err := json.Marshal(eventOf(info.Issue, &session.Event{Info: &info}), json.Deterministic(true))
		if err != nil {
			return
		}
		line = string(data)
	}
	a.Say(line)
}

// stillRunning says that a session was not waited for to its end, and why.
func stillRunning(a *command.Invocation, ctx, waiting context.Context, info *session.Info) error {
	if !a.JSON {
		a.Print("#%d is still running\n", info.Issue)
	}
	switch {
	case errors.Is(waiting.Err(), context.DeadlineExceeded):
		return &problem.Error{Err: errors.New("the time is over"), Hint: fmt.Sprintf("wait on: signalbox session wait %d", info.Issue)}
	case ctx.Err() != nil:
		return &problem.Error{Code: problem.Canceled}
	}
	return &problem.Error{Code: problem.Failed} // another one failed
}
