package gateway

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
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
