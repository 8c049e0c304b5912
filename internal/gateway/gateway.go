// Package gateway is an HTTP server on loopback between an agent and its model's vendor. Each call of an agent gets its own address, which is
// worthless once the call is over. The gateway adds the API key, so the key never enters a sandbox; it reads from the answers what the call uses,
// compares that with its budgets, and cuts the call off. It does not interpret the conversation: apart from credentials, requests and answers pass
// unchanged.
package gateway

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Config configures a gateway; the zero value works.
type Config struct {
	// Clock is used for the end of a vendor's limits; nil means the system's. Deadlines don't use it.
	Clock func() time.Time
	// Logger records every session that was cut; nil discards.
	Logger *slog.Logger
	// Transport sends the requests; nil means one that verifies certificates. It must not follow redirects.
	Transport http.RoundTripper
	// Proxy returns the proxy for an address, nil for none; a nil function uses the proxies in this process's environment. Roots are the trusted
	// certificate authorities; nil means the system's.
	Proxy func(*url.URL) (*url.URL, error)
	Roots *x509.CertPool
	// HeaderTimeout is how long the vendor may take to begin an answer; zero means 10 minutes, because an answer that isn't streamed begins when it
	// is complete.
	HeaderTimeout time.Duration
	// Idle is how long the vendor may send nothing within an answer; zero means 5 minutes.
	Idle time.Duration
}

const (
	defaultHeaderTimeout = 10 * time.Minute
	defaultIdle          = 5 * time.Minute
	// requestTimeout is how long a whole request may take to arrive. It comes from this machine.
	requestTimeout = 2 * time.Minute
	// maxHeader is the largest header of a request in bytes; keepTimeout is how long an idle connection stays open.
	maxHeader   = 64 << 10
	keepTimeout = 90 * time.Second
)

// Gateway serves the sessions of one process.
type Gateway struct {
	config  Config
	address string // host:port, once started
	server  *http.Server
	serving sync.WaitGroup

	mu sync.Mutex
	// sessions are found by a digest of their token, so the time of a search reveals nothing about other tokens. A closed session stays as nil, so
	// late requests are told that it has ended.
	sessions map[digest]*Session
}

type digest [sha256.Size]byte

// New returns a gateway. It opens nothing before Start.
func New(c Config) *Gateway {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Transport == nil {
		proxy := http.ProxyFromEnvironment
		if c.Proxy != nil {
			proxy = func(r *http.Request) (*url.URL, error) { return c.Proxy(r.URL) }
		}
		c.Transport = &http.Transport{
			Proxy: proxy, ForceAttemptHTTP2: true, DisableCompression: true, TLSClientConfig: &tls.Config{RootCAs: c.Roots},
			TLSHandshakeTimeout: connectTimeout, IdleConnTimeout: keepTimeout, MaxIdleConnsPerHost: maxConcurrent,
			DialContext: (&net.Dialer{Timeout: connectTimeout}).DialContext,
		}
	}
	if c.HeaderTimeout <= 0 {
		c.HeaderTimeout = defaultHeaderTimeout
	}
	if c.Idle <= 0 {
		c.Idle = defaultIdle
	}
	return &Gateway{config: c, sessions: map[digest]*Session{}}
}

const connectTimeout = 15 * time.Second

// ErrNotStarted: the gateway does not listen.
var ErrNotStarted = errors.New("the gateway is not started")

// Start listens on a free port of 127.0.0.1 until ctx ends or Close is called. It is called once.
func (g *Gateway) Start(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for agents: %w", err)
	}
	g.address = listener.Addr().String()
	g.server = &http.Server{
		Handler: http.HandlerFunc(g.serve), BaseContext: func(net.Listener) context.Context { return ctx },
		ReadTimeout: requestTimeout, IdleTimeout: keepTimeout, MaxHeaderBytes: maxHeader,
		// net/http logs disconnecting clients, and may quote what they sent.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	stop := context.AfterFunc(ctx, func() { _ = g.server.Close() })
	g.serving.Go(func() {
		defer stop()
		if err := g.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			g.config.Logger.Error("gateway for agents ended", "error", err)
		}
	})
	return nil
}

// Close ends every session and returns when nothing of the gateway is running.
func (g *Gateway) Close() error {
	if g.server == nil {
		return nil
	}
	err := g.server.Close()
	var open []*Session
	g.mu.Lock()
	for _, s := range g.sessions {
		if s != nil {
			open = append(open, s)
		}
	}
	g.mu.Unlock()
	for _, s := range open {
		s.Close()
	}
	g.serving.Wait()
	if t, ok := g.config.Transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
	if err != nil {
		return fmt.Errorf("close gateway: %w", err)
	}
	return nil
}
