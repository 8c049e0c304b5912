package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

const (
	httpPort  = 80
	httpsPort = 443
)

// rule allows a host or, if its name starts with a dot, all hosts below it.
type rule struct {
	name  string
	port  uint16 // 0: those of http and https
	named bool   // by a person, not by publicHosts
}

// parseRule reads "api.example.org", ".example.org", "10.0.0.7:5432" and "[::1]:8080".
func parseRule(entry string) (rule, error) {
	host, port := entry, uint16(0)
	if h, p, err := net.SplitHostPort(entry); err == nil {
		if host, port = h, parsePort(p); port == 0 {
			host = "" // normal refuses it
		}
	}
	below := strings.HasPrefix(host, ".")
	host, err := normal(strings.TrimPrefix(host, "."))
	if err != nil {
		return rule{}, fmt.Errorf(`%q is no host: want "api.example.org", ".example.org" or "10.0.0.7:5432"`, entry)
	}
	if below {
		host = "." + host
	}
	return rule{name: host, port: port, named: true}, nil
}

func parsePort(text string) uint16 {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return uint16(port)
}

func portOf(address *url.URL) uint16 {
	if port := parsePort(address.Port()); port != 0 {
		return port
	}
	if address.Scheme == "http" {
		return httpPort
	}
	return httpsPort
}

var errNoHost = errors.New("not the name or address of a host")

// normal returns the one form of a host's name or address: lower case, no last dot, no IPv4 in IPv6.
func normal(host string) (string, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.Zone() != "" {
			return "", errNoHost
		}
		return ip.Unmap().String(), nil
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" || len(host) > 253 || strings.HasPrefix(host, ".") || strings.Contains(host, "..") {
		return "", errNoHost
	}
	for _, c := range host {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return "", errNoHost
		}
	}
	return host, nil
}

// closed are the addresses outside the internet that netip has no name for, and those that
// hide another address.
var closed = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),      // this host
	netip.MustParsePrefix("100.64.0.0/10"),  // carrier-grade NAT; also cloud services
	netip.MustParsePrefix("192.0.0.0/24"),   // protocol assignments
	netip.MustParsePrefix("198.18.0.0/15"),  // benchmarking
	netip.MustParsePrefix("240.0.0.0/4"),    // reserved, and broadcast
	netip.MustParsePrefix("64:ff9b::/96"),   // IPv4 behind NAT64
	netip.MustParsePrefix("64:ff9b:1::/48"), // the same, with a prefix of the network's own
	netip.MustParsePrefix("2002::/16"),      // IPv4 behind 6to4
	netip.MustParsePrefix("2001::/32"),      // IPv4 behind Teredo
	netip.MustParsePrefix("fec0::/10"),      // site-local
}

// permits reports whether a host of this trust may have the address. A link-local address, such as
// that of the service that hands out a cloud machine's credentials, must be named by its number:
// the owner of a name chooses its addresses.
func (t trust) permits(ip netip.Addr) bool {
	ip = ip.Unmap()
	switch t {
	case public:
		if !ip.IsGlobalUnicast() || ip.IsPrivate() {
			return false
		}
		for _, prefix := range closed {
			if prefix.Contains(ip) {
				return false
			}
		}
		return true
	case ownNetwork:
		return ip.IsGlobalUnicast() || ip.IsLoopback()
	case everyAddress:
		return true
	}
	return false
}
