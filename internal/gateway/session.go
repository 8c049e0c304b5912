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

// SessionConfig is what one call of an agent may do with the model.
type SessionConfig struct {
	// Name says in the log whose session it is.
	Name string
	// Upstream is where the vendor's API is; paths of the API follow it. Its last part may be the
	// version that they begin with ("https://api.openai.com/v1"), or stand for it. Plain http is for
	// loopback, unless Insecure.
	Upstream string
	Insecure bool
	// Source says where a person named Upstream ("ANTHROPIC_BASE_URL"); empty is the vendor's own server.
	Source string
	// Key is the API key. It goes where the agent puts the one that stands for it, or with Bearer as
	// "Authorization: Bearer". Headers are further ones of every request; they may be secret.
	Key     string
	Bearer  bool
	Headers map[string]string
	// Ceiling is what this session may use, Budgets what it shares with others.
	Ceiling Spending
	Budgets []Budget
	// Prices are by the model's name, as requested or answered, with or without its date. Of a
	// model that has none only tokens count: Report.Unpriced says so.
	Prices map[string]Price
	// MaxFailures is how many answers in a row may fail before the session is over, so that the
	// agent's own trying again is; zero means 3. MaxWait is how long an agent may be told to wait, which it
	// does in its place among those that work; what is longer is waited for outside. Zero means 30 s.
	MaxFailures int
	MaxWait     time.Duration
	// OnUsage is told what the session used so far, whenever that changes; calls may overlap, and
	// must not wait for the session's end.
	OnUsage func(agent.Usage)
	// OnInFlight is told what the requests on their way may yet use, before each is sent and when it is
	// over; it must not wait either.
	OnInFlight func(agent.Usage)
}

const (
	defaultMaxFailures = 3
	defaultMaxWait     = 30 * time.Second
	// maxObjections is how many requests in a row a vendor may refuse. Agents try variants of a
	// request that is refused, and make the conversation shorter; they do not need so many.
	maxObjections = 10
	// maxConcurrent requests of one session are served.
	maxConcurrent = 16
)

// Session is one call of an agent, as the gateway knows it.
type Session struct {
	gateway    *Gateway
	config     SessionConfig
	upstream   *url.URL
	endpoint   agent.Endpoint
	token, key digest // of the endpoint
	budgets    []Budget
	serving    sync.WaitGroup
	telling    sync.Mutex // keeps what OnInFlight is told in order

	mu      sync.Mutex
	closed  bool
	running map[*exchange]struct{}
	// cause is why the session was cut. Trouble is the first failure since an answer went well, failed
	// and objected how many there were since.
	cause, trouble   *agent.Failure
	failed, objected int
	used             usage
}

// Open begins a session. It ends with Close, and with the gateway.
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
		token: sha256.Sum256([]byte(token)), key: sha256.Sum256([]byte(key)), used: newUsage(),
		budgets:  append([]Budget{NewAllowance("the call", c.Ceiling, Spending{})}, c.Budgets...),
		endpoint: agent.Endpoint{URL: "http://" + g.address + "/" + token, Key: key}}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions[s.token] = s
	return s, nil
}

var errPrice = errors.New("want US dollars per million tokens, from 0 to 10000")

// secretLength is that of 32 bytes in base64url.
const secretLength = 43

func secret() string {
	random := make([]byte, sha256.Size)
	_, _ = rand.Read(random) // never fails
	return base64.RawURLEncoding.EncodeToString(random)
}

// Endpoint is what the agent is told.
func (s *Session) Endpoint() agent.Endpoint { return s.endpoint }

// Failure is why the session was cut, or else what the model's last answer failed of; nil if it went
// well. It is first-hand: an agent whose session was cut sees a request that is refused, and says so.
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

// Report is what the session used so far; after Close it is final.
func (s *Session) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	report := s.used.Report
	report.Models = maps.Clone(report.Models)
	report.Unpriced = append([]string(nil), report.Unpriced...)
	return report
}

// Close breaks off what runs, makes the endpoint worthless, and returns when all is counted.
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
