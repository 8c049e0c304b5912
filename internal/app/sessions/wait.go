package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"signalbox/internal/problem"
	"signalbox/internal/session"
	"signalbox/internal/wire"
)

// Waiting says how to wait for several sessions.
type Waiting struct {
	// Timeout is how long to wait at most; 0 is for ever.
	Timeout time.Duration
	// FailFast stops waiting at the first session that is an error.
	FailFast bool
	// Asked is called, by several goroutines, for each question of an agent.
	Asked func(session.Info)
	// Tell is called for each session when it has an outcome, or when waiting for it stopped before that.
	Tell func(info session.Info, outcome bool)
}

// For waits for the sessions and returns the worst of their errors.
func (w Waiting) For(ctx context.Context, chosen []Chosen) error {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	if w.Timeout > 0 {
		waiting, stop = context.WithTimeout(ctx, w.Timeout)
		defer stop()
	}
	type result struct {
		info session.Info
		err  error
	}
	results := make(chan result)
	for _, x := range chosen {
		go func() {
			info, err := x.Wait(waiting, NewQuestions(w.Asked))
			if err != nil {
				info = x.Info
			}
			results <- result{info, err}
		}()
	}
	var problems []error
	for range chosen {
		r := <-results
		switch {
		case r.err != nil && waiting.Err() != nil:
			problems = append(problems, stopped(ctx, waiting, &r.info))
		case r.err != nil:
			problems = append(problems, wire.Explained(r.err))
		default:
			problems = append(problems, Failed(&r.info))
			if w.FailFast && problems[len(problems)-1] != nil {
				stop()
			}
		}
		w.Tell(r.info, r.err == nil)
	}
	return Worst(problems)
}

// stopped is why a session was not waited for to its outcome.
func stopped(ctx, waiting context.Context, info *session.Info) error {
	switch {
	case errors.Is(waiting.Err(), context.DeadlineExceeded):
		return &problem.Error{Err: errors.New("the time is over"), Hint: fmt.Sprintf("wait on: signalbox session wait %d", info.Issue)}
	case ctx.Err() != nil:
		return &problem.Error{Code: problem.Canceled}
	}
	return &problem.Error{Code: problem.Failed} // another one failed
}

// Worst is the first error with words of its own, or else the first.
func Worst(problems []error) (worst error) {
	for _, err := range problems {
		if err != nil && (worst == nil || worst.Error() == "") {
			worst = err
		}
	}
	return worst
}
