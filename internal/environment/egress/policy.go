// Package egress owns limited network access for the commands of an environment: the list of hosts, the proxy that is the commands' only way out,
// and the ways to listen for them in their network namespace. It does not inspect what is transferred: a command that may reach a host may also
// send to it.
package egress

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
)

// Kinds of network access for commands.
const (
	// Full is whatever this machine reaches, its own loopback and abstract sockets too.
	Full = "full"
	// Registries is the hosts of a Policy.
	Registries = "registries"
	// None is nothing but a loopback interface of the command's own.
	None = "none"
)

// ProxyAddress is where commands find the proxy, on the loopback interface of their namespace.
// It is the same for each, because tools write it into files that are kept.
const ProxyAddress = "127.0.0.1:41080"

// Policy is the list of hosts that commands may reach; the zero value has none.
type Policy struct{ rules []rule }

// NewPolicy allows the public registries, the hosts of allow (the setting environment.allow), and the hosts of http and https addresses among the
// values of variables (KEY=value): a user who passes on GOPROXY wants it reachable. Proxy variables (HTTPS_PROXY) allow nothing.
func NewPolicy(allow, variables []string) (Policy, error) {
	var p Policy
	for _, host := range publicHosts {
		p.rules = append(p.rules, rule{name: host})
	}
	for _, entry := range allow {
		r, err := parseRule(entry)
		if err != nil {
			return Policy{}, fmt.Errorf("environment.allow: %w", err)
		}
		p.rules = append(p.rules, r)
	}
	for _, assignment := range variables {
		p.rules = append(p.rules, rulesOf(assignment)...)
	}
	return p, nil
}

// With returns the policy and, on top of it, addresses of this machine's loopback interface that a program
// is meant to reach.
func (p Policy) With(addresses []string) Policy {
	p.rules = slices.Clone(p.rules)
	for _, address := range addresses {
		if at, err := netip.ParseAddrPort(address); err == nil && at.Addr().IsLoopback() {
			p.rules = append(p.rules, rule{name: at.Addr().String(), port: at.Port(), named: true})
		}
	}
	return p
}

// trust is how far the addresses of an allowed host are trusted.
type trust int

const (
	refused      trust = iota
	public             // to addresses of the internet
	ownNetwork         // also to private ones and this machine's, because a person named exactly this host
	everyAddress       // to the one address there is, because a person named it by its number
)

// of returns the trust in a host in its normal form (see normal), on a port.
func (p Policy) of(host string, port uint16) (most trust) {
	for _, r := range p.rules {
		if r.matches(host, port) {
			most = max(most, r.trust())
		}
	}
	return most
}

// Addresses returns where to listen in the namespace: at ProxyAddress, and at each address of this machine's loopback interface that a person
// allowed with a port. The latter are connected directly, without the proxy, because tools never use a proxy for them.
func (p Policy) Addresses() []string {
	addresses := []string{ProxyAddress}
	for _, r := range p.rules {
		name := r.name
		if name == "localhost" {
			name = "127.0.0.1"
		}
		ip, err := netip.ParseAddr(name)
		if err != nil || !ip.IsLoopback() || r.port == 0 {
			continue
		}
		address := netip.AddrPortFrom(ip, r.port).String()
		if !slices.Contains(addresses, address) {
			addresses = append(addresses, address)
		}
	}
	return addresses
}

// name returns host:port as the setting writes it, without the port that https has anyway.
func name(host string, port uint16) string {
	if port == httpsPort || port == httpPort {
		return host
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(ip, port).String()
	}
	return host + ":" + strconv.Itoa(int(port))
}

// Allows reports whether commands may ask for an http or https address: its host may still turn out to have no address
// that is permitted. Host is the host's name as the setting would have it, empty where there is none.
func (p Policy) Allows(address *url.URL) (host string, allowed bool) {
	normalized, err := normal(address.Hostname())
	if err != nil {
		return "", false
	}
	port := portOf(address)
	return name(normalized, port), p.of(normalized, port) != refused
}
