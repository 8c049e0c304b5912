package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// ErrUpstream: an address can't be a vendor's.
var ErrUpstream = errors.New("not an address of a model's API")

// parseUpstream validates an address. Its errors don't quote an address that may contain a password.
func parseUpstream(address string, insecure bool) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("upstream: %w", ErrUpstream)
	}
	ip, _ := netip.ParseAddr(u.Hostname()) // if it's none, the zero one isn't loopback
	switch {
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("upstream: %w: want no user, query or fragment", ErrUpstream)
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("upstream %q: %w: want https://host", address, ErrUpstream)
	case u.Scheme == "http" && !insecure && u.Hostname() != "localhost" && !ip.IsLoopback():
		return nil, fmt.Errorf("upstream %q: %w: the key would travel in the clear", address, ErrUpstream)
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), ""
	return u, nil
}

// at returns the address of a path of the API. If upstream has its own version ("…/v4"), that replaces the path's version.
func at(upstream *url.URL, path, query string) *url.URL {
	u := *upstream
	if base := u.Path[strings.LastIndexByte(u.Path, '/')+1:]; len(base) >= 2 && base[0] == 'v' && base[1] >= '0' && base[1] <= '9' {
		_, path, _ = strings.Cut(path[1:], "/")
		path = "/" + path
	}
	u.Path += path
	u.RawQuery = query
	return &u
}

// lastingReason returns what to do about a connection that fails until a person changes something; empty if the failure may pass by itself.
func lastingReason(err error) string {
	var (
		dns      *net.DNSError
		unknown  x509.UnknownAuthorityError
		host     x509.HostnameError
		invalid  x509.CertificateInvalidError
		protocol tls.RecordHeaderError
	)
	switch text := err.Error(); {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "fix the name, or the name server of this machine"
	case errors.As(err, &unknown):
		return "if its certificate is your company's own, name that in SSL_CERT_FILE or NODE_EXTRA_CA_CERTS"
	case errors.As(err, &host), errors.As(err, &invalid):
		return "its certificate is not for this address, or not valid now"
	case errors.As(err, &protocol), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return "it does not speak https: fix the address"
	case strings.Contains(text, http.StatusText(http.StatusProxyAuthRequired)):
		return "the proxy wants a user and a password: put them into HTTPS_PROXY=http://user:password@host:port"
	}
	return ""
}

// reachWait is how long Reach waits for an answer.
const reachWait = 5 * time.Second

// Reach returns why an address does not answer, or nil if anything answers at all. It sends no key. permanent: the failure won't pass by itself.
func (g *Gateway) Reach(ctx context.Context, address string, insecure bool) (permanent bool, err error) {
	upstream, err := parseUpstream(address, insecure)
	if err != nil {
		return true, err
	}
	shown := upstream.Scheme + "://" + upstream.Host + upstream.Path // parts that may be secret are left out
	ctx, cancel := context.WithTimeout(ctx, reachWait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, upstream.String(), nil)
	if err != nil {
		return true, fmt.Errorf("reach %s: %w", shown, err)
	}
	response, err := g.config.Transport.RoundTrip(request)
	if err != nil {
		if why := lastingReason(err); why != "" {
			return true, fmt.Errorf("reach %s: %w: %s", shown, err, why)
		}
		return false, fmt.Errorf("reach %s: %w", shown, err)
	}
	_ = response.Body.Close()
	return false, nil
}
