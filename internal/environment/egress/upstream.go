package egress

import (
	"bufio"
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

// wayOut returns this machine's own proxy on the way to a host, nil where there is none.
func (s *session) wayOut(scheme, host string, port uint16) (*url.URL, error) {
	if s.config.Proxy == nil {
		return nil, nil
	}
	out, err := s.config.Proxy(&url.URL{Scheme: scheme, Host: net.JoinHostPort(host, strconv.Itoa(int(port)))})
	if err != nil {
		return nil, errors.New("this machine's variables for its proxy (HTTPS_PROXY, ALL_PROXY) hold no address") // which may hold a password
	}
	return out, nil
}

// mayPass returns why a host may not be requested through this machine's proxy, or nil. The proxy resolves the name; if our own name server knows
// it too, its address must be permitted.
func (s *session) mayPass(ctx context.Context, host string, port uint16) error {
	_, err := s.permitted(ctx, host, port)
	var refused *refusal
	if errors.As(err, &refused) {
		return err
	}
	return nil
}

// dialThrough connects to a host through this machine's proxy. Neither its password nor its user is in
// any error.
func (s *session) dialThrough(ctx context.Context, out *url.URL, host string, port uint16) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	target := net.JoinHostPort(host, strconv.Itoa(int(port)))
	var conn net.Conn
	var err error
	switch out.Scheme {
	case "http", "https":
		conn, err = s.connectThrough(ctx, out, target)
	case "socks5", "socks5h":
		conn, err = socks(ctx, out, target)
	default:
		err = fmt.Errorf("it is of a kind that is not known: %s", out.Scheme)
	}
	if err != nil {
		return nil, fmt.Errorf("through this machine's proxy %s: %w", out.Host, err)
	}
	idle := &idleConn{duplex: duplex{conn}, clock: s.config.Clock}
	idle.extend()
	return idle, nil
}

func socks(ctx context.Context, out *url.URL, target string) (net.Conn, error) {
	var auth *proxy.Auth
	if out.User != nil {
		password, _ := out.User.Password()
		auth = &proxy.Auth{User: out.User.Username(), Password: password}
	}
	dialer, err := proxy.SOCKS5("tcp", withPort(out, "1080"), auth, proxy.Direct)
	if err != nil {
		return nil, err
	}
	return dialer.(proxy.ContextDialer).DialContext(ctx, "tcp", target)
}

func withPort(u *url.URL, usual string) string {
	if u.Port() != "" {
		usual = u.Port()
	}
	return net.JoinHostPort(u.Hostname(), usual)
}

// connectThrough asks a proxy for a tunnel.
func (s *session) connectThrough(ctx context.Context, out *url.URL, target string) (_ net.Conn, err error) {
	usual := map[string]string{"http": "80", "https": "443"}[out.Scheme]
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", withPort(out, usual))
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
		secure := tls.Client(conn, &tls.Config{ServerName: out.Hostname(), RootCAs: s.config.Roots})
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
		return nil, errors.New("it broke off")
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

// passing sends plain requests, through this machine's proxy where there is one.
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
	out, err := p.wayOut("http", host, number)
	if err != nil {
		return nil, err
	}
	if out == nil {
		return p.direct.RoundTrip(r)
	}
	if err := p.mayPass(r.Context(), host, number); err != nil {
		return nil, err
	}
	return p.through.RoundTrip(r)
}
