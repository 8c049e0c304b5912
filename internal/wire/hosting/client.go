package hosting

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/forge/budget"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/gitlab"
	"signalbox/internal/forge/rest"
)

const (
	connectTimeout = 15 * time.Second
	keepTimeout    = 90 * time.Second
	maxConnections = 10
)

// client reaches the server through the proxies and with the certificates that this machine's variables name, within the budget of calls that all
// processes share.
func (c Config) client(owner string) (*budget.Transport, *http.Client, error) {
	roots, err := c.Roots()
	if err != nil {
		return nil, nil, err
	}
	over := &http.Transport{
		Proxy:             func(r *http.Request) (*url.URL, error) { return c.Proxy(r.URL) },
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots()}, TLSHandshakeTimeout: connectTimeout,
		IdleConnTimeout: keepTimeout, MaxIdleConnsPerHost: maxConnections, DialContext: (&net.Dialer{Timeout: connectTimeout}).DialContext,
	}
	counted := budget.Config{Base: &learning{RoundTripper: over, learn: c.Redact.Add}, Kind: rest.Kind, Folder: budget.Folder(c.Within("."), c.Env), Now: c.Clock, Logger: c.Logger}
	if c.Settings.Driver == config.ForgeGitHub {
		counted.Limit, counted.Query, counted.FreeUnchanged = github.Limit, github.Query, true
	}
	if app := c.Settings.App; app.ID != "" { // its tokens last an hour, and its installations have budgets of their own
		counted.Credential = func(r *http.Request) string {
			if github.ByApp(r) {
				return "App " + app.ID
			}
			return "App " + app.ID + " in " + owner
		}
	}
	shared := budget.New(counted)
	return shared, &http.Client{Transport: shared}, nil
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
