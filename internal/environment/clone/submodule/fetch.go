package submodule

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/environment/egress"
	"signalbox/internal/git"
	"signalbox/internal/lazy"
	"signalbox/internal/process"
	"signalbox/internal/redact"
)

// fetchTimeout bounds one attempt to fetch a submodule.
const fetchTimeout = 15 * time.Minute

// fetchVariables are those of Config.Variables that a fetch gets: the trusted certificates and this machine's proxy.
var fetchVariables = []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy"}

// mayFetch returns the address from which a submodule may be fetched: http or https, of a host that commands of environments
// may reach, without user and password.
func (s *Store) mayFetch(m module) (*url.URL, error) {
	address, err := git.SubmoduleURL(m.from, m.URL)
	if err != nil {
		return nil, m.problem("%s", err.Error())
	}
	at, err := url.Parse(address)
	switch {
	case address == "":
		return nil, m.problem("it has no address")
	case strings.HasPrefix(address, "ssh:"), scpPattern().MatchString(address):
		return nil, m.problem("its address %s needs ssh: no key of yours enters a sandbox", shownAddress(address))
	case err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "":
		return nil, m.problem("its address %s is neither http nor https: others are refused, because anyone can write one into a commit", shownAddress(address))
	}
	at.User, at.Fragment, at.RawFragment = nil, "", ""
	host, allowed := s.Egress.Allows(at)
	switch network := s.Network; {
	case host == "":
		return nil, m.problem("its address %s names no host", shownAddress(address))
	case network == egress.None:
		p := m.problem("it cannot be fetched from %s: environment.network is none", host)
		p.Closed = true
		return nil, p
	case network == egress.Registries && !allowed:
		p := m.problem("it cannot be fetched: its host %s is not in environment.allow", host)
		p.Hosts = s.offered(host)
		return nil, p
	}
	return at, nil
}

// offered returns a host that a person is asked to allow. It returns none if a server made the name up, or if it is an address
// where a cloud machine serves its own credentials (169.254.169.254).
func (s *Store) offered(host string) []string {
	at := &url.URL{Scheme: "https", Host: host}
	if ip, err := netip.ParseAddr(at.Hostname()); err == nil && (ip.Unmap().IsLinkLocalUnicast() || ip.IsUnspecified()) {
		return nil
	}
	if known, _ := s.Egress.Allows(at); known != host {
		return nil
	}
	return []string{host}
}

// scpPattern matches git's short form of an ssh address: ada@example.org:lib.git.
var scpPattern = lazy.Pattern(`^[^/]+@[^/:]+:|^[A-Za-z0-9.-]+:[^:/]`)

// shownAddress returns an address for a message, without user and password.
func shownAddress(address string) string {
	if at, err := url.Parse(address); err == nil && at.Host != "" {
		at.User = nil
		address = at.String()
	} else if i := strings.LastIndexByte(address, '@'); i >= 0 { // of scp's form, or no URL at all: a password may hold any character
		address = "…" + address[i:]
	}
	return redact.Line(address, 150)
}

// fetch brings a submodule from its address into the store. Git runs like a command of an environment, with the same network
// access, and sees nothing but the empty repository that it fetches into.
func (o *obtaining) fetch(ctx context.Context, m module) (tree string, err error) {
	address, err := o.mayFetch(m)
	if err != nil {
		return "", err
	}
	scratch := o.scratch
	defer func() { err = errors.Join(err, folder.Remove(scratch)) }()
	refspecs := [][]string{{"--depth=1", m.Commit}, {"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"}}
	var problem error
	for _, refspec := range refspecs { // not every server sends a commit by its id, or without its history
		if err := errors.Join(folder.Remove(scratch), plumbing.MakeRepository(scratch, "none", m.Commit, true, git.Identity{})); err != nil {
			return "", err
		}
		said, ok, err := o.runFetch(ctx, address.String(), refspec)
		if err != nil {
			return "", err
		}
		if !ok {
			if refused := o.refusal(m, address, said); refused != nil {
				return "", refused
			}
			problem = m.problem("it cannot be fetched from %s: %s", shownAddress(address.String()), plumbing.Complaint(said))
			continue
		}
		tree, err := o.takeIn(ctx, m, filepath.Join(scratch, "objects"))
		if err == nil || !errors.Is(err, git.ErrNotFound) {
			return tree, err
		}
		problem = m.problem("%s does not have it", shownAddress(address.String()))
	}
	return "", problem
}

// runFetch fetches into the scratch repository and returns git's standard error.
func (o *obtaining) runFetch(ctx context.Context, address string, refspec []string) (said string, ok bool, err error) {
	var stderr bytes.Buffer
	args := []string{"git", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--no-auto-maintenance"}
	rest := refspec
	if strings.HasPrefix(refspec[0], "--") {
		args, rest = append(args, refspec[0]), refspec[1:]
	}
	c := process.Command{Args: append(append(args, "--", address), rest...), Dir: o.scratch, Stderr: &stderr, OutputLimit: 64 << 10, Total: fetchTimeout, Fresh: true}
	for _, variable := range o.Variables {
		if name, _, _ := strings.Cut(variable, "="); slices.Contains(fetchVariables, name) {
			c.Env = append(c.Env, variable)
		}
	}
	// The list of protocols outranks the settings.
	c.Env = append(c.Env, o.Git.Variables("GIT_DIR="+o.scratch, "HOME="+o.scratch, "GIT_ALLOW_PROTOCOL=https:http", "GIT_ASKPASS=", "SSH_ASKPASS=", o.tag)...)
	var result process.Result
	if o.Sandbox == nil {
		result, err = o.Git.Exec.Exec(ctx, c)
	} else {
		var m sandbox.Mounts
		if m, err = o.Sandbox.Base(); err == nil {
			err = o.Sandbox.Request(m, sandbox.ReadOnly, o.ReadOnly)
		}
		if err != nil {
			return "", false, err
		}
		o.Sandbox.Follow(m)
		m.Show(sandbox.ReadWrite, o.scratch)
		result, err = o.Sandbox.Run(ctx, o.Network, sandbox.View{Mounts: m}, c.Dir, c)
	}
	if err == nil {
		err = ctx.Err()
	}
	if result.Ending == process.TimedOut {
		stderr.WriteString("\nfatal: timed out\n")
	}
	return stderr.String(), result.OK(), err
}

var (
	// blockedPattern matches the proxy's answer to git about a host that it refuses.
	blockedPattern = lazy.Pattern(`signalbox: blocked: (\S+)`)
	askedPattern   = lazy.Pattern(`(?i)could not read (?:Username|Password)|Authentication failed|returned error: 40[13]|terminal prompts disabled`)
	passingPattern = lazy.Pattern(`(?i)could not resolve|timed out|Connection (?:refused|reset)|Failed to connect|Network is unreachable|returned error: (?:5\d\d|429)|response 50\d|early EOF|hung up|Empty reply`)
)

// refusal returns the reason why a fetch was refused, nil if another attempt may help.
func (s *Store) refusal(m module, address *url.URL, said string) error {
	shown := shownAddress(address.String())
	say := func(pattern func() *regexp.Regexp) bool { return pattern().MatchString(said) }
	switch {
	case say(blockedPattern):
		host := blockedPattern().FindStringSubmatch(said)[1]
		hosts := s.offered(host)
		if len(hosts) == 0 {
			return m.problem("%s leads to %s, which is not reached", shown, redact.Line(host, 100))
		}
		p := m.problem("%s leads to %s, which is not reached: name exactly that host in environment.allow", shown, host)
		p.Hosts = hosts
		return p
	case say(askedPattern):
		return m.problem("%s asks who you are: no password of yours enters a sandbox", shown)
	case say(passingPattern):
		p := m.problem("%s does not answer: %s", shown, plumbing.Complaint(said))
		p.Passing = true
		return p
	}
	return nil
}
