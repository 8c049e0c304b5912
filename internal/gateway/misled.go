package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// misled returns what to do about a connection that fails until a person changes something; empty if the failure may pass by itself.
func misled(err error) string {
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
	ctx, cancel := context.WithTimeout(ctx, reachWait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, upstream.String(), nil)
	if err != nil {
		return true, fmt.Errorf("reach %s: %w", plainURL(upstream), err)
	}
	response, err := g.config.Transport.RoundTrip(request)
	if err != nil {
		if why := misled(err); why != "" {
			return true, fmt.Errorf("reach %s: %w: %s", plainURL(upstream), err, why)
		}
		return false, fmt.Errorf("reach %s: %w", plainURL(upstream), err)
	}
	_ = response.Body.Close()
	return false, nil
}

// plainURL returns an address without the parts that may be secret.
func plainURL(u *url.URL) string { return u.Scheme + "://" + u.Host + u.Path }
