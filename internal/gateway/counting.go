package gateway

import (
	"errors"

	"signalbox/internal/agent"
)

// reserve asks every budget for one more request. Nothing is kept of one that any refuses.
func (s *Session) reserve() error {
	for i, b := range s.budgets {
		if err := b.Reserve(); err != nil {
			for _, asked := range s.budgets[:i] {
				_ = asked.Spend(Spending{Requests: -1})
			}
			s.cut(agent.Fail(agent.Overspent, "%v", err))
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used.Requests++
	return nil
}

// count brings what was counted of an answer up to what is known of it by now, and cuts the session
// where that is too much.
func (s *Session) count(x *exchange, r *reading, guessedInput int64) error {
	t, guessed := r.count()
	now := share{tokens: t, guessed: guessed + guessedInput}
	p, priced := price(s.config.Prices, x.model, r.model)
	now.microUSD, now.unpriced = p.cost(t), !priced
	before := x.counted
	s.mu.Lock()
	if now != before {
		s.used.replace(s.used.known(x.model), before, now)
	}
	total := s.used.Usage
	s.mu.Unlock()
	if x.counted = now; now == before {
		return nil
	}
	s.config.OnUsage(total)
	return s.spend(now.spending().sub(before.spending()))
}

func (s *Session) spend(more Spending) error {
	var problems []error
	for _, b := range s.budgets {
		problems = append(problems, b.Spend(more))
	}
	err := errors.Join(problems...)
	if err != nil {
		s.cut(agent.Fail(agent.Overspent, "%v", err))
		s.mu.Lock()
		s.stopAll()
		s.mu.Unlock()
	}
	return err
}

// cut ends the session for a reason; the first is kept.
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

// stopAll breaks off all that runs; s.mu is held.
func (s *Session) stopAll() {
	for x := range s.running {
		x.stop()
	}
}

// wentWell: what failed before is over.
func (s *Session) wentWell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble, s.failed, s.objected = nil, 0, 0
}

// wentWrong keeps what an answer failed of, and cuts the session if there is no use in asking again.
func (s *Session) wentWrong(v verdict) (over bool) {
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
