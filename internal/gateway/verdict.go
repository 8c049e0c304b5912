package gateway

import (
	"net/http"

	"signalbox/internal/agent"
)

// severity is what a failed answer means for the session.
type severity int

const (
	// objected: the vendor rejects this request. The agent may send another one.
	objected severity = iota
	// passing: the same request may succeed later.
	passing
	// hopeless: every further request would fail too.
	hopeless
)

// verdict is the judgement on a failed answer.
type verdict struct {
	failure  *agent.Failure
	severity severity
}

func (s *Session) judge(p *problem, header http.Header) verdict {
	code, severity := p.code(header)
	v := verdict{agent.Fail(code, "%s answered %d: %s", s.server(), p.status, p.message), severity}
	if code == agent.RateLimited || code == agent.UsageLimited {
		v.failure.Until = p.until(header, code == agent.UsageLimited, s.gateway.config.Clock().Round(0))
	}
	return v
}

// server returns the vendor's server for people, because agents know only the gateway's address: its host or, if a person named it, the whole
// address and where it is set.
func (s *Session) server() string {
	if s.config.Source == "" {
		return "the model's server " + s.upstream.Host
	}
	return "the model's server " + s.upstream.String() + " (" + s.config.Source + ")"
}

func (p *problem) code(header http.Header) (agent.FailureCode, severity) {
	switch {
	case p.status == http.StatusUnauthorized:
		return agent.Unauthorized, hopeless
	case p.status == http.StatusForbidden:
		return agent.Unauthorized, objected // perhaps for one model only
	case p.status == http.StatusPaymentRequired, p.is("insufficient_quota", "usage_limit_reached"), p.says("credit balance is too low"):
		return agent.UsageLimited, hopeless
	case p.status == http.StatusTooManyRequests && (p.is(perDay) || header.Get("Anthropic-Ratelimit-Unified-Status") == "rejected"):
		return agent.UsageLimited, hopeless
	case p.status == http.StatusTooManyRequests:
		return agent.RateLimited, passing
	case p.status == http.StatusRequestTimeout, p.status >= http.StatusInternalServerError:
		return agent.ModelFailed, passing
	case p.status < http.StatusBadRequest:
		return agent.Refused, hopeless // a redirect, which isn't followed
	case p.status == http.StatusRequestEntityTooLarge || p.is("context_length_exceeded") ||
		p.says("prompt is too long", "exceed context limit", "exceeds the context window", "maximum context length",
			"exceeds the maximum number of tokens"):
		return agent.Overflowed, objected
	}
	return agent.Refused, objected
}
