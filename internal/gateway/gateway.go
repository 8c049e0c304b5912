// Package gateway owns what stands between an agent and its model's vendor: an
// HTTP server on loopback with one address per call of an agent, worth nothing
// once the call is over. It puts the API key in, so that the key never enters a
// sandbox; it reads off the answers what the call uses, holds that against
// ceilings, and cuts the call off. It refuses to understand what is asked and
// said: requests and answers pass as they are, but for credentials.
package gateway

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Config is what a gateway needs; the zero value will do.
type Config struct {
	// Clock says when a limit of the vendor ends; nil means the system's. Deadlines do not ask it.
	Clock func() time.Time
	// Logger is told of every session that was cut; nil discards.
	Logger *slog.Logger
	// Transport asks upstream; nil means one that verifies certificates. It must not follow redirects.
	Transport http.RoundTripper
	// Proxy is the proxy through which an address is reached, nil for none; a nil function means those
	// that the variables of this process name. Roots are whose certificates are believed; nil means the system's.
	Proxy func(*url.URL) (*url.URL, error)
	Roots *x509.CertPool
	// HeaderTimeout is how long upstream may take to begin an answer; zero means 10 minutes,
	// because one that is not streamed begins when it is complete.
	HeaderTimeout time.Duration
	// Idle is how long upstream may be silent within an answer; zero means 5 minutes.
	Idle time.Duration
}

const (
	defaultHeaderTimeout = 10 * time.Minute
	defaultIdle          = 5 * time.Minute
	// requestTimeout is for a whole request to arrive. It comes from this machine.
	requestTimeout = 2 * time.Minute
	// maxHeader bounds the header of a request, keepTimeout a connection without one.
	maxHeader   = 64 << 10
	keepTimeout = 90 * time.Second
)

// Gateway serves the sessions of one process.
type Gateway struct {
	config  Config
	address string // host:port, once it is started
	server  *http.Server
	serving sync.WaitGroup

	mu sync.Mutex
	// sessions are found by the digest of their token, so that how long the search takes says
	// nothing of other tokens. One that was closed stays as nil, and is told so.
	sessions map[digest]*Session
}

type digest [sha256.Size]byte

// New returns a gateway. Nothing is touched before Start.
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

// ErrNotStarted is of a gateway that does not listen.
var ErrNotStarted = errors.New("the gateway is not started")

// Start listens on a free port of 127.0.0.1, until ctx ends or Close. It is called once.
func (g *Gateway) Start(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for agents: %w", err)
	}
	g.address = listener.Addr().String()
	g.server = &http.Server{
		Handler: http.HandlerFunc(g.serve), BaseContext: func(net.Listener) context.Context { return ctx },
		ReadTimeout: requestTimeout, IdleTimeout: keepTimeout, MaxHeaderBytes: maxHeader,
		// What it says is about clients that broke off, and may quote what they sent.
		ErrorLog: log.New(discard{}, "", 0),
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

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Close ends every session and returns when nothing of the gateway runs any more.
func (g *Gateway) Close() error {
	if g.server == nil {
		return nil
	}
	err := g.server.Close()
	for _, s := range g.open() {
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

func (g *Gateway) open() (sessions []*Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.sessions {
		if s != nil {
			sessions = append(sessions, s)
		}
	}
	return sessions
}
