package egress

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/net/proxy"
)

// wayOut returns this machine's own proxy on the way to a host that may be requested through it, nil
// if there is no proxy. The proxy resolves the name; if our own name server knows it too, its
// address must be permitted.
func (s *session) wayOut(ctx context.Context, scheme, host string, port uint16) (*url.URL, error) {
	if s.config.Proxy == nil {
		return nil, nil
	}
	out, err := s.config.Proxy(&url.URL{Scheme: scheme, Host: net.JoinHostPort(host, strconv.Itoa(int(port)))})
	if err != nil {
		// Its text may hold a password.
		return nil, errors.New("this machine's proxy variables (HTTPS_PROXY, ALL_PROXY) hold no valid address")
	}
	if out == nil {
		return nil, nil
	}
	_, err = s.permitted(ctx, host, port)
	var refused *refusal
	if errors.As(err, &refused) {
		return nil, err
	}
	return out, nil
}

// dialThrough connects to a host through this machine's proxy. Its errors never contain the proxy's
// user or password.
func (s *session) dialThrough(ctx context.Context, out *url.URL, target string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	usual := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[out.Scheme]
	address := net.JoinHostPort(out.Hostname(), cmp.Or(out.Port(), usual))
	var conn net.Conn
	var err error
	switch out.Scheme {
	case "http", "https":
		conn, err = s.connectThrough(ctx, out, address, target)
	case "socks5", "socks5h":
		var auth *proxy.Auth
		if out.User != nil {
			password, _ := out.User.Password()
			auth = &proxy.Auth{User: out.User.Username(), Password: password}
		}
		var dialer proxy.Dialer
		if dialer, err = proxy.SOCKS5("tcp", address, auth, proxy.Direct); err == nil {
			conn, err = dialer.(proxy.ContextDialer).DialContext(ctx, "tcp", target)
		}
	default:
		err = fmt.Errorf("unknown kind of proxy: %s", out.Scheme)
	}
	if err != nil {
		return nil, fmt.Errorf("through this machine's proxy %s: %w", out.Host, err)
	}
	return conn, nil
}

// connectThrough asks an HTTP proxy at address for a tunnel.
func (s *session) connectThrough(ctx context.Context, out *url.URL, address, target string) (_ net.Conn, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if !stop() && err == nil {
			err = ctx.Err()
		}
		if err != nil {
			_ = conn.Close()
		}
	}()
	if out.Scheme == "https" {
		secure := tls.Client(conn, &tls.Config{ServerName: out.Hostname(), RootCAs: s.config.roots()})
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		conn = secure
	}
	authorization := ""
	if out.User != nil {
		password, _ := out.User.Password()
		authorization = "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(out.User.Username()+":"+password)) + "\r\n"
	}
	if _, err := io.WriteString(conn, "CONNECT "+target+" HTTP/1.1\r\nHost: "+target+"\r\n"+authorization+"\r\n"); err != nil {
		return nil, errors.New("it broke the connection off")
	}
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, &http.Request{Method: http.MethodConnect}) //nolint:bodyclose // what follows is the tunnel
	if err != nil {
		return nil, fmt.Errorf("read its answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	}
	return &buffered{duplex: duplex{conn}, reader: reader}, nil
}

// passing sends plain requests, through this machine's proxy if there is one.
type passing struct {
	*session
	direct  http.RoundTripper
	through http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (p *passing) RoundTrip(r *http.Request) (*http.Response, error) {
	port := r.URL.Port()
	if port == "" {
		port = strconv.Itoa(httpPort)
	}
	host, number, err := split(net.JoinHostPort(r.URL.Hostname(), port))
	if err != nil {
		return nil, err
	}
	out, err := p.wayOut(r.Context(), "http", host, number)
	if err != nil {
		return nil, err
	}
	if out == nil {
		return p.direct.RoundTrip(r)
	}
	return p.through.RoundTrip(r)
}
