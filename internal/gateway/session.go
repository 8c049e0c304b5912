package gateway

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"sync"
	"time"

	"signalbox/internal/agent"
)

// SessionConfig says what one call of an agent may do with the model.
type SessionConfig struct {
	// Name identifies the session in the log.
	Name string
	// Upstream is the address of the vendor's API; the API's paths follow it. Its last part may be the API's version ("https://api.openai.com/v1")
	// or replace it. Plain http is for loopback only, unless Insecure.
	Upstream string
	Insecure bool
	// Source names the setting with which a person chose Upstream ("ANTHROPIC_BASE_URL"); empty means the vendor's own server.
	Source string
	// Key is the API key. It replaces the agent's placeholder where the agent sends it or, with Bearer, is sent as "Authorization: Bearer". Headers
	// are added to every request; they may be secret.
	Key     string
	Bearer  bool
	Headers map[string]string
	// Budget is this session's own budget; Shared are those it shares with other sessions.
	Budget Spending
	Shared []Budget
	// Prices maps model names, as requested or answered, with or without a date, to prices. For other models only tokens count, and Report.Unpriced
	// lists them.
	Prices map[string]Price
	// MaxFailures is how many answers in a row may fail before the session ends, and with it the agent's own retries; zero means 3. MaxWait is how
	// long a vendor may make the agent wait while the run occupies its place among the running ones; a longer wait ends the session and happens
	// outside. Zero means 30 s.
	MaxFailures int
	MaxWait     time.Duration
	// OnUsage is called with the session's total usage whenever that changes. Calls may overlap, and must not wait for the session's end.
	OnUsage func(agent.Usage)
	// OnInFlight is called with what the running requests may still use, before each is sent and when it ends. It must not wait either.
	OnInFlight func(agent.Usage)
}

const (
	defaultMaxFailures = 3
	defaultMaxWait     = 30 * time.Second
	// maxObjections is how many requests in a row a vendor may reject. Agents try variants of a rejected request and shorten the conversation, but
	// need fewer attempts than that.
	maxObjections = 10
	// maxConcurrent is how many requests of one session run at once.
	maxConcurrent = 16
)

// Session is one call of an agent, as the gateway sees it.
type Session struct {
	// Endpoint is where the agent finds its model. It doesn't change, and is worthless after Close.
	Endpoint agent.Endpoint

	gateway    *Gateway
	config     SessionConfig
	upstream   *url.URL
	token, key digest // of the endpoint
	budgets    []Budget
	serving    sync.WaitGroup
	reporting  sync.Mutex // keeps calls of OnInFlight in order

	mu      sync.Mutex
	closed  bool
	running map[*exchange]struct{}
	// cause is why the session was cut. trouble is the first failure since the last good answer; failed and objected count the failures since.
	cause, trouble   *agent.Failure
	failed, objected int
	used             usage
}

// Open begins a session. Close, or the gateway's end, ends it.
func (g *Gateway) Open(c SessionConfig) (*Session, error) {
	if g.address == "" {
		return nil, fmt.Errorf("open session of %s: %w", c.Name, ErrNotStarted)
	}
	upstream, err := parseUpstream(c.Upstream, c.Insecure)
	if err != nil {
		return nil, fmt.Errorf("open session of %s: %w", c.Name, err)
	}
	for model, p := range c.Prices {
		if !p.valid() {
			return nil, fmt.Errorf("open session of %s: price of %q: %w", c.Name, model, errPrice)
		}
	}
	if c.MaxFailures <= 0 {
		c.MaxFailures = defaultMaxFailures
	}
	if c.MaxWait <= 0 {
		c.MaxWait = defaultMaxWait
	}
	if c.OnUsage == nil {
		c.OnUsage = func(agent.Usage) {}
	}
	if c.OnInFlight == nil {
		c.OnInFlight = func(agent.Usage) {}
	}
	token, key := secret(), secret()
	s := &Session{gateway: g, config: c, upstream: upstream, running: map[*exchange]struct{}{},
		token: sha256.Sum256([]byte(token)), key: sha256.Sum256([]byte(key)),
		used:     usage{Report: Report{Models: map[string]agent.Usage{}}, microUSD: map[string]int64{}},
		budgets:  append([]Budget{NewAllowance("the call", c.Budget, Spending{})}, c.Shared...),
		Endpoint: agent.Endpoint{URL: "http://" + g.address + "/" + token, Key: key}}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions[s.token] = s
	return s, nil
}

var errPrice = errors.New("want US dollars per million tokens, from 0 to 10000")

// secretLength is the length of 32 bytes in base64url.
const secretLength = 43

// secret returns 32 random bytes as text for an address or a header.
func secret() string {
	random := make([]byte, sha256.Size)
	_, _ = rand.Read(random) // never fails
	return base64.RawURLEncoding.EncodeToString(random)
}

// Failure returns why the session was cut, or why the model's last answer failed; nil if it succeeded. It is first-hand: an agent whose session was
// cut sees only a rejected request.
func (s *Session) Failure() *agent.Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	failure := s.cause
	if failure == nil {
		failure = s.trouble
	}
	if failure == nil {
		return nil
	}
	copied := *failure
	return &copied
}

// Report returns what the session used so far. After Close it is final.
func (s *Session) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	report := s.used.Report
	report.Models = maps.Clone(report.Models)
	report.Unpriced = append([]string(nil), report.Unpriced...)
	return report
}

// Close aborts running requests, invalidates the endpoint, and returns when everything is counted.
func (s *Session) Close() {
	s.gateway.mu.Lock()
	s.gateway.sessions[s.token] = nil
	s.gateway.mu.Unlock()
	s.mu.Lock()
	s.closed = true
	s.stopAll()
	s.mu.Unlock()
	s.serving.Wait()
}
