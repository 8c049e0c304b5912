package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// refusal is a host that commands may not reach.
type refusal struct {
	host string
	why  string
}

func (r *refusal) Error() string { return "blocked: " + r.host + " " + r.why }

// dial connects to "host:port", if the policy allows it. The network, always tcp, is only there for
// http.Transport.
func (s *session) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := split(address)
	if err != nil {
		return nil, err
	}
	out, err := s.wayOut(ctx, "https", host, port)
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	if out != nil {
		conn, err = s.dialThrough(ctx, out, net.JoinHostPort(host, strconv.Itoa(int(port))))
	} else {
		var addresses []netip.Addr
		addresses, err = s.permitted(ctx, host, port)
		for _, ip := range addresses {
			one, problem := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", netip.AddrPortFrom(ip, port).String())
			if problem == nil {
				conn, err = one, nil
				break
			}
			err = errors.Join(err, fmt.Errorf("connect: %w", problem))
		}
	}
	if err != nil {
		return nil, err
	}
	idle := &idleConn{duplex: duplex{conn}, clock: s.config.Clock}
	idle.extend()
	return idle, nil
}

// permitted returns the addresses of a host that commands may connect to.
func (s *session) permitted(ctx context.Context, host string, port uint16) ([]netip.Addr, error) {
	trust := s.config.Policy.of(host, port)
	if trust == refused {
		return nil, s.refused(name(host, port), "is not in environment.allow")
	}
	ip, err := netip.ParseAddr(host)
	found := []netip.Addr{ip}
	if err != nil {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		found, err = s.config.Resolve(ctx, host)
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("could not resolve host %s: %w", host, errors.Join(err))
		}
	}
	var permitted []netip.Addr
	for _, ip := range found {
		if trust.permits(ip) {
			permitted = append(permitted, ip.Unmap())
		}
	}
	if len(permitted) == 0 {
		why := fmt.Sprintf("has an address that is not on the internet (%s); if it should, name it in environment.allow", found[0])
		return nil, s.refused(name(host, port), why)
	}
	return permitted, nil
}

// refused returns the refusal of a host, and reports the first one of each.
func (s *session) refused(host, why string) error {
	s.mu.Lock()
	first := !s.seen[host] && len(s.seen) < maxRefused
	if first {
		s.seen[host] = true
	}
	s.mu.Unlock()
	if first {
		s.config.Logger.Warn("network request blocked", "host", host, "setting", "environment.allow")
		if s.blocked != nil {
			s.blocked(host)
		}
	}
	return &refusal{host: host, why: why}
}

// idleConn is closed for reading and writing when nothing moves for idleTimeout.
type idleConn struct {
	duplex
	clock func() time.Time
}

func (c *idleConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == nil {
		c.extend()
	}
	return n, err
}

func (c *idleConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err == nil {
		c.extend()
	}
	return n, err
}

func (c *idleConn) extend() {
	// A connection that takes no deadline is closed already.
	_ = c.SetDeadline(c.clock().Add(idleTimeout))
}

// Blocklist holds the hosts that one command was refused.
type Blocklist struct {
	mu    sync.Mutex
	hosts []string
}

// maxBlocked is how many hosts a Blocklist names.
const maxBlocked = 20

// Add records a refused host.
func (b *Blocklist) Add(host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.hosts) < maxBlocked {
		b.hosts = append(b.hosts, host)
	}
}

// Tell writes the list to the command's standard error, if it has one.
func (b *Blocklist) Tell(stderr io.Writer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, host := range b.hosts {
		if stderr == nil {
			return nil
		}
		if _, err := fmt.Fprintf(stderr, "signalbox: blocked: %s (environment.allow)\n", host); err != nil {
			return fmt.Errorf("list blocked hosts: %w", err)
		}
	}
	return nil
}
