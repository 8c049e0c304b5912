package access

import (
	"net"
	"sync"
)

// perClient is how many connections one address may have at a time. This machine's own programs share an address.
const (
	perClient   = 256
	perLoopback = 4096
)

// Listener limits how many connections a client has: those beyond are closed before anything is read.
func (g *Guard) Listener(l net.Listener) net.Listener {
	return &listener{Listener: l, open: map[string]int{}}
}

type listener struct {
	net.Listener
	mu   sync.Mutex
	open map[string]int
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client := clientOf(c.RemoteAddr().String())
		if l.take(client) {
			return &connection{Conn: c, end: sync.OnceFunc(func() { l.give(client) })}, nil
		}
		_ = c.Close()
	}
}

func (l *listener) take(client string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := perClient
	if ip := net.ParseIP(client); ip != nil && ip.IsLoopback() {
		most = perLoopback
	}
	if l.open[client] >= most {
		return false
	}
	l.open[client]++
	return true
}

func (l *listener) give(client string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[client]--; l.open[client] == 0 {
		delete(l.open, client)
	}
}

type connection struct {
	net.Conn
	end func()
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.end()
	return c.Conn.Close()
}

// clientOf is the client behind an address: one of IPv6 has a network of 64 bits.
func clientOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	ip := net.ParseIP(host)
	if ip == nil || ip.To4() != nil || ip.IsLoopback() {
		return host
	}
	return ip.Mask(net.CIDRMask(64, 128)).String()
}
