package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// refusal is a host that commands may not reach.
type refusal struct {
	host string
	why  string
}

func (r *refusal) Error() string { return "blocked: " + r.host + " " + r.why }

// dial connects to a host of the policy.
func (s *session) dial(ctx context.Context, host string, port uint16) (net.Conn, error) {
	out, err := s.wayOut("https", host, port)
	if err != nil {
		return nil, err
	}
	if out != nil {
		if err := s.mayPass(ctx, host, port); err != nil {
			return nil, err
		}
		return s.dialThrough(ctx, out, host, port)
	}
	addresses, err := s.permitted(ctx, host, port)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, ip := range addresses {
		conn, err := s.connect(ctx, netip.AddrPortFrom(ip, port))
		if err == nil {
			return conn, nil
		}
		problems = append(problems, err)
	}
	return nil, errors.Join(problems...)
}

// permitted returns the addresses of a host to which commands may be connected.
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

// refused reports a host at its first refusal.
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

func (s *session) connect(ctx context.Context, address netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address.String())
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	idle := &idleConn{duplex: duplex{conn}, clock: s.config.Clock}
	idle.extend()
	return idle, nil
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
	// A connection that cannot get one is closed already.
	_ = c.SetDeadline(c.clock().Add(idleTimeout))
}
