package gateway

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// ErrUpstream is of an address that cannot be a vendor's.
var ErrUpstream = errors.New("not an address of a model's API")

// parseUpstream does not quote the address where it may hold a password.
func parseUpstream(address string, insecure bool) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("upstream: %w", ErrUpstream)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("upstream: %w: want no user, query or fragment", ErrUpstream)
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("upstream %q: %w: want https://host", address, ErrUpstream)
	case u.Scheme == "http" && !insecure && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("upstream %q: %w: the key would travel in the clear", address, ErrUpstream)
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), ""
	return u, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// at is the address of a path of the API. Where upstream has a version of its own ("…/v4"), it
// stands for that of the path.
func at(upstream *url.URL, path, query string) *url.URL {
	u := *upstream
	if base := u.Path[strings.LastIndexByte(u.Path, '/')+1:]; isVersion(base) {
		_, path, _ = strings.Cut(path[1:], "/")
		path = "/" + path
	}
	u.Path += path
	u.RawQuery = query
	return &u
}

// isVersion: v1, v4, v1beta.
func isVersion(s string) bool {
	return len(s) >= 2 && s[0] == 'v' && s[1] >= '0' && s[1] <= '9'
}
