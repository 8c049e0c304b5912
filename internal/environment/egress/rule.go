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

// rule allows a host, or with a dot before it all hosts below it.
type rule struct {
	name  string
	port  uint16 // 0: those of http and https
	named bool   // by a person, not by our own list
}

func (r rule) matches(host string, port uint16) bool {
	if r.port != port && (r.port != 0 || port != httpPort && port != httpsPort) {
		return false
	}
	return host == r.name || strings.HasPrefix(r.name, ".") && strings.HasSuffix(host, r.name)
}

// trust is lower for ".example.org": others may give a name below it any address.
func (r rule) trust() trust {
	_, err := netip.ParseAddr(r.name)
	switch {
	case !r.named || strings.HasPrefix(r.name, "."):
		return public
	case err == nil:
		return everyAddress
	}
	return ownNetwork
}

// parseRule reads "api.example.org", ".example.org", "10.0.0.7:5432" and "[::1]:8080".
func parseRule(entry string) (rule, error) {
	host, port := entry, uint16(0)
	if h, p, err := net.SplitHostPort(entry); err == nil {
		if host, port = h, parsePort(p); port == 0 {
			host = "" // which is none
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

// rulesOf returns the hosts that a variable names: GOPROXY=https://a.example|https://b.example,direct.
func rulesOf(assignment string) (rules []rule) {
	variable, value, _ := strings.Cut(assignment, "=")
	if strings.HasSuffix(strings.ToLower(variable), "_proxy") {
		return nil
	}
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(",| \t\n", r) }) {
		address, err := url.Parse(strings.TrimPrefix(word, "sparse+"))
		if err != nil || address.Scheme != "http" && address.Scheme != "https" {
			continue
		}
		host, err := normal(address.Hostname())
		if err != nil {
			continue
		}
		rules = append(rules, rule{name: host, port: portOf(address), named: true})
	}
	return rules
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
