package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

const (
	// headerTimeout and maxHeader (bytes) limit the header of a request.
	headerTimeout = 30 * time.Second
	maxHeader     = 64 << 10
	// keepTimeout is how long an idle connection is kept.
	keepTimeout = 90 * time.Second
)

// serveHTTP serves the proxy itself.
func (s *session) serveHTTP(l net.Listener) error {
	transport := func() *http.Transport {
		return &http.Transport{DisableCompression: true, IdleConnTimeout: keepTimeout, MaxIdleConns: maxConnections, ResponseHeaderTimeout: idleTimeout}
	}
	direct, through := transport(), transport()
	direct.DialContext = s.dial
	through.Proxy = func(r *http.Request) (*url.URL, error) { return s.config.Proxy(r.URL) }
	through.DialTLSContext = func(ctx context.Context, network, proxy string) (net.Conn, error) {
		return (&tls.Dialer{Config: &tls.Config{RootCAs: s.config.roots()}}).DialContext(ctx, network, proxy)
	}
	defer direct.CloseIdleConnections()
	defer through.CloseIdleConnections()
	forward := &httputil.ReverseProxy{
		Rewrite: func(*httputil.ProxyRequest) {}, Transport: &passing{s, direct, through}, FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			reason, status := explain(err)
			http.Error(w, "signalbox: "+reason, status)
		},
		ErrorLog: silent,
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodConnect:
			s.connectTunnel(w, r)
		case r.URL.Scheme != "http" || r.URL.Host == "":
			http.Error(w, "this is a proxy: want a whole http address, or CONNECT", http.StatusBadRequest)
		default:
			forward.ServeHTTP(w, r)
		}
	})
	server := &http.Server{
		Handler: handler, BaseContext: func(net.Listener) context.Context { return s.ctx },
		ReadHeaderTimeout: headerTimeout, IdleTimeout: keepTimeout, MaxHeaderBytes: maxHeader, ErrorLog: silent,
	}
	// The server no longer knows its tunnels: they end by themselves with the context.
	stop := context.AfterFunc(s.ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve proxy: %w", err)
	}
	return nil
}

// silent discards the server's messages about clients that broke off.
var silent = log.New(io.Discard, "", 0)

// split returns the host and the port of "host:port" as a client writes it.
func split(address string) (host string, port uint16, err error) {
	host, number, err := net.SplitHostPort(address)
	if err == nil {
		host, err = normal(host)
	}
	if port = parsePort(number); err != nil || port == 0 {
		return "", 0, fmt.Errorf("%q: %w with a port", address, errNoHost)
	}
	return host, port, nil
}

// connectTunnel answers CONNECT. The reason is in the first line of the answer, because most clients show only that line.
func (s *session) connectTunnel(w http.ResponseWriter, r *http.Request) {
	server, dialErr := s.dial(r.Context(), "tcp", r.Host)
	client, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil {
		reason, status := explain(err)
		http.Error(w, "signalbox: "+reason, status)
		if server != nil {
			_ = server.Close()
		}
		return
	}
	if dialErr != nil {
		reason, status := explain(dialErr)
		_, _ = fmt.Fprintf(client, "HTTP/1.1 %d %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status, reason)
		_ = client.Close()
		return
	}
	_ = client.SetDeadline(time.Time{})
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	tunnel(s.ctx, &buffered{duplex: duplex{client}, reader: buffer.Reader}, server)
}

// buffered is a connection whose first bytes are in a reader.
type buffered struct {
	duplex
	reader *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.reader.Read(p) }

// explain returns an error on one line, in characters that any client may print, and its status.
func explain(err error) (reason string, status int) {
	reason = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, err.Error())
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return reason, http.StatusForbidden
	case errors.Is(err, errNoHost):
		return reason, http.StatusBadRequest
	}
	return reason, http.StatusBadGateway
}
