// Package egress owns limited network access for the commands of an environment: the list of hosts,
// the proxy that is their only way out, and the ways to listen in their network namespace. It
// doesn't inspect what is transferred: a command that may reach a host may also send to it.
package egress

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Kinds of network access for commands.
const (
	// Full is everything that this machine reaches, including its own loopback and abstract sockets.
	Full = "full"
	// Registries is the hosts of a Policy.
	Registries = "registries"
	// None is only a loopback interface of the command's own.
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
	for _, assignment := range variables { // GOPROXY=https://a.example|https://b.example,direct
		variable, value, _ := strings.Cut(assignment, "=")
		if strings.HasSuffix(strings.ToLower(variable), "_proxy") {
			continue
		}
		for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(",| \t\n", r) }) {
			address, err := url.Parse(strings.TrimPrefix(word, "sparse+"))
			if err != nil || address.Scheme != "http" && address.Scheme != "https" {
				continue
			}
			if host, err := normal(address.Hostname()); err == nil {
				p.rules = append(p.rules, rule{name: host, port: portOf(address), named: true})
			}
		}
	}
	return p, nil
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
		onPort := r.port == port || r.port == 0 && (port == httpPort || port == httpsPort)
		below := strings.HasPrefix(r.name, ".")
		if !onPort || host != r.name && !(below && strings.HasSuffix(host, r.name)) {
			continue
		}
		_, err := netip.ParseAddr(r.name)
		switch {
		case !r.named || below: // others may give a name below ".example.org" any address
			most = max(most, public)
		case err == nil:
			most = max(most, everyAddress)
		default:
			most = max(most, ownNetwork)
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

// name returns host:port as the setting writes it, without a port that http or https has anyway.
func name(host string, port uint16) string {
	if port == httpsPort || port == httpPort {
		return host
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(ip, port).String()
	}
	return host + ":" + strconv.Itoa(int(port))
}

// Allows reports whether commands may ask for an http or https address. When they do, its host may
// still turn out to have no permitted address. Host is the name as the setting would have it,
// empty if the address has none.
func (p Policy) Allows(address *url.URL) (host string, allowed bool) {
	normalized, err := normal(address.Hostname())
	if err != nil {
		return "", false
	}
	port := portOf(address)
	return name(normalized, port), p.of(normalized, port) != refused
}

// publicHosts are always allowed: the hosts that package managers use without configuration. Model services are not among them, because a command
// can send anything to them; a person names the one they need.
var publicHosts = []string{
	// Go; the proxy sends large modules from the storage service.
	"proxy.golang.org", "sum.golang.org", "index.golang.org", "storage.googleapis.com", "go.dev", "dl.google.com",
	// JavaScript
	"registry.npmjs.org", "registry.yarnpkg.com", "repo.yarnpkg.com", "nodejs.org",
	// Python
	"pypi.org", "files.pythonhosted.org",
	"conda.anaconda.org", "repo.anaconda.com", "binstar-cio-packages-prod.s3.amazonaws.com",
	// Java
	"repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "plugins-artifacts.gradle.org",
	"services.gradle.org", "downloads.gradle.org", "maven.google.com",
	// Rust
	"crates.io", "static.crates.io", "index.crates.io", "static.rust-lang.org",
	// Ruby, PHP, .NET, Elixir
	"rubygems.org", "index.rubygems.org", "repo.packagist.org", "packagist.org", "api.nuget.org",
	"repo.hex.pm", "hex.pm", "builds.hex.pm",
	// Systems
	"deb.debian.org", "security.debian.org", "archive.ubuntu.com", "security.ubuntu.com", "ports.ubuntu.com",
	"dl-cdn.alpinelinux.org",
}
