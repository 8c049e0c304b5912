package gateway

import (
	"net/http"
	"strconv"
	"strings"
	"time"

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

// judge returns what a failed answer means, by its status, its own words and its headers.
func (s *Session) judge(p *problem, header http.Header) verdict {
	code, severity := agent.Refused, objected
	switch {
	case p.status == http.StatusUnauthorized:
		code, severity = agent.Unauthorized, hopeless
	case p.status == http.StatusForbidden:
		code, severity = agent.Unauthorized, objected // perhaps for one model only
	case p.status == http.StatusPaymentRequired, p.is("insufficient_quota", "usage_limit_reached"), p.says("credit balance is too low"):
		code, severity = agent.UsageLimited, hopeless
	case p.status == http.StatusTooManyRequests && (p.is(perDay) || header.Get("Anthropic-Ratelimit-Unified-Status") == "rejected"):
		code, severity = agent.UsageLimited, hopeless
	case p.status == http.StatusTooManyRequests:
		code, severity = agent.RateLimited, passing
	case p.status == http.StatusRequestTimeout, p.status >= http.StatusInternalServerError:
		code, severity = agent.ModelFailed, passing
	case p.status < http.StatusBadRequest:
		code, severity = agent.Refused, hopeless // a redirect, which isn't followed
	case p.status == http.StatusRequestEntityTooLarge || p.is("context_length_exceeded") ||
		p.says("prompt is too long", "exceed context limit", "exceeds the context window", "maximum context length",
			"exceeds the maximum number of tokens"):
		code, severity = agent.Overflowed, objected
	}
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

// resets are the headers that say when a limit ends. A header that comes with every answer counts only if nothing remains.
var resets = []struct{ name, remaining string }{
	{name: "Retry-After"},
	{name: "Anthropic-Ratelimit-Requests-Reset", remaining: "Anthropic-Ratelimit-Requests-Remaining"},
	{name: "Anthropic-Ratelimit-Tokens-Reset", remaining: "Anthropic-Ratelimit-Tokens-Remaining"},
	{name: "Anthropic-Ratelimit-Input-Tokens-Reset", remaining: "Anthropic-Ratelimit-Input-Tokens-Remaining"},
	{name: "Anthropic-Ratelimit-Output-Tokens-Reset", remaining: "Anthropic-Ratelimit-Output-Tokens-Remaining"},
	{name: "X-Ratelimit-Reset-Requests", remaining: "X-Ratelimit-Remaining-Requests"},
	{name: "X-Ratelimit-Reset-Tokens", remaining: "X-Ratelimit-Remaining-Tokens"},
}

// planResets are those of a plan's share. They come with every answer too, and count only when the share is used up.
var planResets = []string{"Anthropic-Ratelimit-Unified-Reset", "X-Codex-Primary-Reset-After-Seconds"}

// until returns when the model is available again: the latest time in the headers or the body; zero if there is none.
func (p *problem) until(header http.Header, plan bool, now time.Time) (latest time.Time) {
	consider := func(t time.Time) {
		if t.After(latest) && t.Before(now.Add(longest)) && t.After(now) {
			latest = t
		}
	}
	consider(p.resetsAt)
	consider(now.Add(p.resetsIn))
	for _, reset := range resets {
		if reset.remaining == "" || header.Get(reset.remaining) == "0" {
			consider(moment(header.Get(reset.name), now))
		}
	}
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		consider(now.Add(seconds(ms / 1000)))
	}
	for _, name := range planResets {
		if plan {
			consider(moment(header.Get(name), now))
		}
	}
	return latest
}

// moment parses a time in any vendor's format: seconds or a duration from now, seconds since 1970, or a date.
func moment(text string, now time.Time) time.Time {
	text = strings.TrimSpace(text)
	const sinceEpoch = 1e9 // a number above it is no wait
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if n >= sinceEpoch {
			return unix(n)
		}
		return now.Add(seconds(n))
	}
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(seconds(d.Seconds()))
	}
	for _, layout := range []string{time.RFC3339, http.TimeFormat} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}
