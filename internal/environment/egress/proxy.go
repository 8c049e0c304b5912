package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
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
	// Proxy returns the proxy through which this machine itself reaches an address, nil for none; a
	// nil function means that there is none. Roots must have signed its certificate; nil means the
	// system's. They are asked for when a connection needs them: reading them takes milliseconds.
	Proxy func(*url.URL) (*url.URL, error)
	Roots func() *x509.CertPool
	// Clock tells the time for deadlines; nil means the system's.
	Clock func() time.Time
}

func (c *Config) roots() *x509.CertPool {
	if c.Roots == nil {
		return nil
	}
	return c.Roots()
}

// Proxy lets commands reach the hosts of a policy, over HTTP or through CONNECT. It resolves names
// itself and connects to the address it checked, so a second answer of a name server changes
// nothing.
type Proxy struct{ config Config }

// New returns a proxy. It touches nothing before Serve.
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
	// maxConnections is how many connections of one listener are served at a time; further ones
	// wait. Package managers open some tens.
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
	config.Policy.rules = slices.Clone(config.Policy.rules)
	for _, address := range addresses {
		if at, err := netip.ParseAddrPort(address); err == nil && at.Addr().IsLoopback() {
			config.Policy.rules = append(config.Policy.rules, rule{name: at.Addr().String(), port: at.Port(), named: true})
		}
	}
	return &Proxy{config: config}
}

// Policy returns the hosts that the proxy lets through.
func (p *Proxy) Policy() Policy { return p.config.Policy }

// Serve serves listeners until ctx ends, and returns when all connections are closed. The listeners
// are at the policy's Addresses, in that order; listeners[0] may be any that leads to the proxy.
// Serve calls blocked, if not nil, once for each refused host.
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
				// Tools never use a proxy for an address of the loopback interface: lead every connection there.
				address := p.config.Policy.Addresses()[i]
				problems[i] = accept(s.ctx, l, func(client net.Conn) {
					server, err := s.dial(s.ctx, "tcp", address)
					if err != nil {
						_ = client.Close() // the client sees a server that is down
						return
					}
					tunnel(s.ctx, client, server)
				})
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

// Variables returns the variables that tell a command's tools where the proxy is, each tool in its
// own words. A variable of options keeps those that it has in existing (KEY=value).
func Variables(existing []string) []string {
	const (
		proxy = "http://" + ProxyAddress
		local = "localhost,127.0.0.1,::1"
	)
	var list []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		list = append(list, name+"="+proxy, strings.ToLower(name)+"="+proxy)
	}
	list = append(list, "NO_PROXY="+local, "no_proxy="+local,
		"YARN_HTTP_PROXY="+proxy, "YARN_HTTPS_PROXY="+proxy, "NODE_USE_ENV_PROXY=1")
	// Java knows none of these. JAVA_TOOL_OPTIONS would reach every Java program, but each would
	// print it to standard error.
	host, port, _ := net.SplitHostPort(ProxyAddress)
	java := " -Daether.connector.http.useSystemProperties=true" // Maven 3.9 needs it for the others
	for _, scheme := range []string{"http", "https"} {
		java += " -D" + scheme + ".proxyHost=" + host + " -D" + scheme + ".proxyPort=" + port
	}
	for _, name := range []string{"MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS"} {
		options := ""
		for _, assignment := range existing {
			if value, ok := strings.CutPrefix(assignment, name+"="); ok {
				options = value // the last counts
			}
		}
		list = append(list, name+"="+strings.TrimSpace(options+java))
	}
	return list
}
