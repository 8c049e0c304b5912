package gateway

import (
	"cmp"
	"context"
	"errors"
	"time"

	"signalbox/internal/agent"
)

// reserve asks every budget for one more request, and waits while other requests are in the way. If any budget refuses, it keeps no reservation.
func (s *Session) reserve(ctx context.Context, x *exchange, body []byte) error {
	// Estimate what the request will use, at least and at most.
	p, _ := price(x.session.config.Prices, x.model)
	of := func(t tokens) Spending { return Spending{Tokens: t.input + t.output, CostMicroUSD: p.cost(t)} }
	text, encoded := sizes(body)
	input := max(text/shortToken+encoded/pictureBytes, leastReserved)
	x.most = tokens{input: input, written: input, output: x.wants.output}.bounded()
	least := text / longToken
	want := Ask{Least: of(tokens{input: least, read: least}.bounded()), Most: of(x.most)}
	for _, b := range s.budgets {
		hold, err := b.Reserve(ctx, want)
		if err != nil {
			for _, h := range x.holds {
				_ = h.Spend(Spending{Requests: -1})
				h.Release()
			}
			x.holds = nil
			if ctx.Err() == nil {
				s.cut(overspent(err))
			}
			return err
		}
		x.holds = append(x.holds, hold)
	}
	s.mu.Lock()
	s.used.Requests++
	x.begun = true
	s.mu.Unlock()
	s.reportInFlight()
	return nil
}

// overspent returns the failure of a session whose budget refused.
func overspent(err error) *agent.Failure {
	var s *spent
	if errors.As(err, &s) && !s.until.IsZero() {
		failure := agent.Fail(agent.DaySpent, "%v", err)
		failure.Until = s.until
		return failure
	}
	return agent.Fail(agent.Overspent, "%v", err)
}

// tellInFlight reports what the running requests may still use.
func (s *Session) reportInFlight() {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	var sum agent.Usage
	s.mu.Lock()
	for x := range s.running {
		if !x.begun {
			continue
		}
		p, _ := price(s.config.Prices, x.model)
		before := x.counted
		sum = sum.Add(agent.Usage{InputTokens: max(0, x.most.input-before.tokens.input), OutputTokens: max(0, x.most.output-before.tokens.output),
			CostUSD: dollars(max(0, p.cost(x.most)-before.microUSD))})
	}
	s.mu.Unlock()
	s.config.OnInFlight(sum)
}

// count updates the count of an answer to what is known by now, and cuts the session if that is too much.
func (s *Session) count(x *exchange, r *reading, guessedInput int64) error {
	t, guessed := r.count()
	return s.book(x, r.model, t, guessed+guessedInput)
}

// book replaces the earlier count of an answer with t. answered is the name that the vendor gave the model.
func (s *Session) book(x *exchange, answered string, t tokens, guessed int64) error {
	now := share{tokens: t, guessed: guessed}
	p, priced := price(s.config.Prices, x.model, answered)
	now.microUSD, now.unpriced = p.cost(t), !priced
	s.mu.Lock()
	before := x.counted
	if now != before {
		s.used.replace(x.model, before, now)
	}
	total := s.used.Usage
	x.counted = now
	s.mu.Unlock()
	if now == before {
		return nil
	}
	s.config.OnUsage(total)
	more := now.spending().sub(before.spending())
	var problem error
	for _, h := range x.holds {
		problem = cmp.Or(problem, h.Spend(more))
	}
	if err := problem; err != nil {
		s.cut(overspent(err))
		s.mu.Lock()
		s.stopAll()
		s.mu.Unlock()
	}
	return problem
}

// cut ends the session for a reason. The first reason is kept.
func (s *Session) cut(failure *agent.Failure) {
	s.mu.Lock()
	first := s.cause == nil
	if first {
		s.cause = failure
	}
	s.mu.Unlock()
	if first {
		s.gateway.config.Logger.Warn("session with the model cut", "session", s.config.Name, "reason_code", failure.Code, "reason", failure.Message)
	}
}

// stopAll aborts all running exchanges. The caller holds s.mu.
func (s *Session) stopAll() {
	for x := range s.running {
		// A deadline in the past ends even an exchange that waits for the agent.
		x.cancel(errStopped)
		_ = x.control.SetReadDeadline(time.Unix(1, 0))
		_ = x.control.SetWriteDeadline(time.Unix(1, 0))
	}
}

// recordFailure records why an answer failed, and cuts the session if asking again is pointless.
func (s *Session) recordFailure(v verdict) (over bool) {
	s.mu.Lock()
	if s.trouble == nil {
		s.trouble = v.failure
	}
	reason := s.trouble
	switch v.severity {
	case objected:
		s.objected++
	case passing:
		s.failed++
	case hopeless:
		reason = v.failure
	}
	if until := v.failure.Until; until.After(s.gateway.config.Clock().Add(s.config.MaxWait)) {
		v.severity, reason = hopeless, v.failure
	}
	over = v.severity == hopeless || s.failed >= s.config.MaxFailures || s.objected >= maxObjections
	s.mu.Unlock()
	if over {
		s.cut(reason)
	}
	return over
}
