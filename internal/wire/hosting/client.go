package hosting

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"signalbox/internal/forge/gitlab"
)

const (
	connectTimeout = 15 * time.Second
	keepTimeout    = 90 * time.Second
	maxConnections = 10
)

// client reaches the server through the proxies and with the certificates that this machine's variables name.
func (c Config) client() (*http.Client, error) {
	roots, err := c.Roots()
	if err != nil {
		return nil, err
	}
	over := &http.Transport{
		Proxy:             func(r *http.Request) (*url.URL, error) { return c.Proxy(r.URL) },
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots}, TLSHandshakeTimeout: connectTimeout,
		IdleConnTimeout: keepTimeout, MaxIdleConnsPerHost: maxConnections, DialContext: (&net.Dialer{Timeout: connectTimeout}).DialContext,
	}
	return &http.Client{Transport: &learning{RoundTripper: over, learn: c.Redact.Add}}, nil
}

// learning tells the redactor each credential before it is sent: tokens of Apps are made while a run is under way.
type learning struct {
	http.RoundTripper
	learn func(map[string]string)
	known sync.Map
}

// RoundTrip implements http.RoundTripper.
func (l *learning) RoundTrip(r *http.Request) (*http.Response, error) {
	_, authorization, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	for _, secret := range []string{authorization, r.Header.Get(string(gitlab.PrivateToken)), r.Header.Get(string(gitlab.JobToken))} {
		if secret == "" {
			continue
		}
		if _, again := l.known.LoadOrStore(secret, true); !again {
			l.learn(map[string]string{"forge.token": secret})
		}
	}
	return l.RoundTripper.RoundTrip(r)
}
