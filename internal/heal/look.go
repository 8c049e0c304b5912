package heal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"signalbox/internal/health"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Look is the verdict of one check.
type Look struct {
	Check   string      `json:"check"`
	Outcome LookOutcome `json:"outcome"`
	// Message says what was wrong, or why there was no verdict.
	Message string `json:"message,omitempty"`
	ErrorID string `json:"error_id,omitempty"`
	// TookMS is the duration in milliseconds.
	TookMS int64 `json:"took_ms"`
}

// LookOutcome is how a look at one check ended.
type LookOutcome string

const (
	LookPassed  LookOutcome = "passed"
	LookFailed  LookOutcome = "failed"
	LookUnknown LookOutcome = "unknown" // no verdict: neither failed nor passed
	LookNotDue  LookOutcome = "not due" // passed within its interval, so not run again
)

// seen is the result of running one check. head is our description and said the program's output; together they identify the error. still: it is
// the error that is already open.
type seen struct {
	outcome             LookOutcome
	message, head, said string
	still               bool
	took                time.Duration // of a check that passed
}

// look runs every check that is due. It returns the failures, one per error, and its observations of the other checks.
func (p *pass) look(ctx context.Context) ([]health.Failure, health.Sight, error) {
	var sight health.Sight
	var due []workflow.HealthCheck
	for _, c := range p.Checks {
		passed := p.seen.Checks[c.ID].PassedAt
		since := p.Clock().Sub(passed)
		open := slices.ContainsFunc(p.state.Loop.Errors, func(e health.Error) bool { return e.Check == c.ID })
		// A check with an interval waits after it passed, unless its error is open.
		if open || passed.IsZero() || since < 0 || since >= time.Duration(c.IntervalSec)*time.Second {
			due = append(due, c)
		} else {
			p.report.Looks = append(p.report.Looks, Look{Check: c.ID, Outcome: LookNotDue})
			sight.Passed = append(sight.Passed, c.ID)
		}
	}
	looks, err := p.lookAt(ctx, due)
	if err != nil {
		return nil, sight, err
	}
	p.report.Looks = append(p.report.Looks, looks...)
	var failures []health.Failure
	for i, l := range looks {
		switch l.Outcome {
		case LookPassed:
			sight.Passed = append(sight.Passed, l.Check)
		case LookUnknown:
			sight.Unseen = append(sight.Unseen, health.Unseen{Check: l.Check, Why: redact.Joined(l.Message, 200)})
		}
		if l.Outcome != LookFailed || slices.ContainsFunc(failures, func(f health.Failure) bool { return f.ErrorID == l.ErrorID }) {
			continue
		}
		failures = append(failures, health.Failure{Check: l.Check, ErrorID: l.ErrorID, Summary: l.Message, Severity: due[i].Severity})
	}
	return failures, sight, nil
}

// lookAt runs checks in parallel in one place. An obstacle makes only its own check unknown.
func (p *pass) lookAt(ctx context.Context, checks []workflow.HealthCheck) (looks []Look, err error) {
	var place Place
	var nowhere error
	if slices.ContainsFunc(checks, p.needsPlace) {
		place, nowhere = p.Place(ctx)
	}
	if nowhere != nil {
		place = nil
	} else if place != nil {
		defer func() { err = errors.Join(err, place.Close(context.WithoutCancel(ctx))) }()
	}
	looks = make([]Look, len(checks))
	var all sync.WaitGroup
	var mu sync.Mutex // guards verdict: Observe and the memory of this pass
	for i, c := range checks {
		all.Go(func() {
			started := p.Clock()
			s, fresh := p.confirmed(ctx, c, place, nowhere)
			took := p.Clock().Sub(started)
			mu.Lock()
			defer mu.Unlock()
			looks[i] = p.verdict(c, s, fresh, took)
		})
	}
	all.Wait()
	return looks, ctx.Err()
}

// needsPlace reports whether the check reads the project's tree, or has to rerun a command there for an open error.
func (p *pass) needsPlace(c workflow.HealthCheck) bool {
	return c.InEnvironment() || c.Kind == workflow.HealthLog && p.open(c) != nil
}

// open returns the check's error that isn't repaired, or nil.
func (p *pass) open(c workflow.HealthCheck) *health.Error {
	i := slices.IndexFunc(p.state.Loop.Errors, func(e health.Error) bool { return e.Check == c.ID && !e.Fixed })
	if i < 0 {
		return nil
	}
	return &p.state.Loop.Errors[i]
}

// verdict remembers and reports what was seen of a check, and returns it as a verdict.
func (p *pass) verdict(c workflow.HealthCheck, s seen, fresh *sight, took time.Duration) Look {
	l := Look{Check: c.ID, Outcome: s.outcome, Message: p.shown(s.message), TookMS: took.Milliseconds()}
	if s.outcome == LookFailed {
		l.ErrorID = health.ErrorID(c.ID, p.shown(s.head), p.shown(s.said))
		if e := p.open(c); e != nil && s.still {
			l.ErrorID, l.Message = e.ID, e.Summary
		}
	}
	passed := s.outcome == LookPassed && c.IntervalSec > 0
	if fresh != nil || passed {
		var next sight
		if fresh != nil {
			next = *fresh
		}
		if passed {
			next.PassedAt = p.Clock().UTC()
		}
		p.seen.fresh[c.ID] = next
	}
	line := fmt.Sprintf("%s: %s in %s", l.Check, l.Outcome, took.Truncate(time.Millisecond))
	if l.Message != "" {
		line += ": " + redact.Joined(l.Message, 160)
	}
	p.Observe(line)
	return l
}

// shown returns a program's output cleaned and redacted.
func (p *pass) shown(text string) string { return redact.Named(redact.Clean(p.Redact.String(text))) }

// confirmed repeats a check until it passed once, or failed as often as the configuration requires. If its place could not be made, it doesn't run.
func (p *pass) confirmed(ctx context.Context, c workflow.HealthCheck, place Place, nowhere error) (s seen, fresh *sight) {
	if nowhere != nil && p.needsPlace(c) {
		return seen{outcome: LookUnknown, message: fmt.Sprintf("make a check sandbox: %v", nowhere)}, nil
	}
	var err error
	for range max(1, c.Looks) {
		if s, fresh, err = p.once(ctx, c, place); err != nil || s.outcome != LookFailed || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return seen{outcome: LookUnknown, message: err.Error()}, nil
	}
	return s, fresh
}
