package access

import (
	"net"
	"net/http"
	"sync"
)

// perClient is how many connections one address may have at a time. This machine's own programs share an address.
const (
	perClient   = 256
	perLoopback = 4096
)

// Listener limits how many connections a client has: those beyond are closed before anything is read.
func (g *Guard) Listener(l net.Listener) net.Listener {
	return &listener{Listener: l}
}

type listener struct {
	net.Listener
	open counter
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client := clientOf(c.RemoteAddr().String())
		if l.open.take(client, most(client, perClient, perLoopback)) {
			return &connection{Conn: c, end: sync.OnceFunc(func() { l.open.give(client) })}, nil
		}
		_ = c.Close()
	}
}

// most is the limit for a client.
func most(client string, usual, loopback int) int {
	if ip := net.ParseIP(client); ip != nil && ip.IsLoopback() {
		return loopback
	}
	return usual
}

// counter counts what each has at the moment.
type counter struct {
	mu  sync.Mutex
	has map[string]int
}

// take counts one more, unless there are as many as may be.
func (c *counter) take(of string, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.has[of] >= most {
		return false
	}
	if c.has == nil {
		c.has = map[string]int{}
	}
	c.has[of]++
	return true
}

func (c *counter) give(of string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.has[of]--; c.has[of] == 0 {
		delete(c.has, of)
	}
}

const (
	// maxRequests is how many requests a user may have that are answered at a time: HTTP/2 has many on one connection. It is the user's and not the
	// address's, which others may share.
	maxRequests = 256
	// maxUnknown is the same for an address without a login.
	maxUnknown         = 32
	maxUnknownLoopback = 256
)

// limited answers a request unless its client, for whom no login is needed, has too many.
func (g *Guard) limited(w http.ResponseWriter, r *http.Request, answer func()) {
	client := wayOf(r).client
	g.busy(w, client, most(client, maxUnknown, maxUnknownLoopback), answer)
}

// busy counts a request while it's answered.
func (g *Guard) busy(w http.ResponseWriter, of string, most int, answer func()) {
	if !g.requests.take(of, most) {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many requests at once", http.StatusTooManyRequests)
		return
	}
	defer g.requests.give(of)
	answer()
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
