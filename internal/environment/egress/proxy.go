package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"time"
)

// Config is what a proxy needs.
type Config struct {
	Policy Policy
	// Logger records every refused host; nil discards.
	Logger *slog.Logger
	// Resolve finds the addresses of a name; nil means this machine's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Proxy is the proxy through which this machine itself reaches an address, nil for none; a nil function
	// means that there is none. Roots are whose certificates it may have; nil means the system's.
	Proxy func(*url.URL) (*url.URL, error)
	Roots *x509.CertPool
	// Clock tells the time for deadlines; nil means the system's.
	Clock func() time.Time
}

// Proxy lets commands reach the hosts of a policy, over HTTP or through CONNECT. It resolves
// names itself and connects to the very address it checked, so no second answer of a name server
// is ever believed.
type Proxy struct{ config Config }

// New returns a proxy. Nothing is touched before Serve.
func New(c Config) *Proxy {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Resolve == nil {
		c.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return &Proxy{config: c}
}

const (
	// maxConnections at one time are served of one listener; further ones wait. Package managers
	// open some tens.
	maxConnections = 256
	// maxRefused bounds how many refused hosts are remembered, so that they are named once.
	maxRefused = 1000
	// dialTimeout is for one address of a host.
	dialTimeout = 15 * time.Second
	// idleTimeout ends a connection on which nothing moves. A model may think for minutes
	// before its answer begins.
	idleTimeout = 15 * time.Minute
)

// With returns a proxy like this one that also leads to addresses on this machine's loopback interface.
func (p *Proxy) With(addresses []string) *Proxy {
	config := p.config
	config.Policy = config.Policy.With(addresses)
	return &Proxy{config: config}
}

// Policy returns what the proxy lets through.
func (p *Proxy) Policy() Policy { return p.config.Policy }

// Serve serves listeners until ctx ends, and returns when all connections are closed. The listeners are at the policy's Addresses, in that order;
// listeners[0] may be any that leads to the proxy. Serve calls blocked, if not nil, once for each refused host.
func (p *Proxy) Serve(ctx context.Context, listeners []net.Listener, blocked func(host string)) error {
	ctx, cancel := context.WithCancel(ctx)
	s := &session{Proxy: p, ctx: ctx, blocked: blocked, seen: map[string]bool{}}
	var serving sync.WaitGroup
	problems := make([]error, len(listeners))
	for i, l := range listeners {
		serving.Go(func() {
			defer cancel()
			l := newLimited(l, maxConnections)
			if i == 0 {
				problems[i] = s.serveHTTP(l)
			} else {
				problems[i] = s.serveAddress(l, p.config.Policy.Addresses()[i])
			}
			l.drain()
		})
	}
	serving.Wait()
	cancel()
	return errors.Join(problems...)
}

// session is one call of Serve.
type session struct {
	*Proxy
	ctx     context.Context //nolint:containedctx // it is the session's life, which ends its connections
	blocked func(string)
	mu      sync.Mutex
	seen    map[string]bool
}
