package hosting

import (
	"net/url"
	"strings"

	"signalbox/internal/config"
	"signalbox/internal/lazy"
)

// address is where a repository is for people.
type address struct {
	// server has no slash at the end and no user; path is owner/name.
	server, path string
}

// scpForm is git's short form of an ssh address: [user@]host:path. A colon after a slash belongs to a path of this machine.
var scpForm = lazy.Pattern(`^(?:[^@/:]+@)?([^/:@\[\]]+):([^:].*)$`)

// addressOf reads a remote's address: https, ssh or scp form. A user and a password in it are dropped. The port of ssh is not that of the pages.
func addressOf(remote string) (address, bool) {
	var scheme, host, path string
	u, err := url.Parse(remote)
	switch {
	case err == nil && (u.Scheme == "https" || u.Scheme == "http"):
		scheme, host, path = u.Scheme, u.Host, u.Path
	case err == nil && (u.Scheme == "ssh" || u.Scheme == "git+ssh" || u.Scheme == "git"):
		scheme, host, path = "https", u.Hostname(), u.Path
	case strings.Contains(remote, "://"):
		return address{}, false
	default:
		found := scpForm().FindStringSubmatch(remote)
		if found == nil {
			return address{}, false
		}
		scheme, host, path = "https", found[1], found[2]
	}
	switch host = strings.ToLower(host); host { // these only speak ssh
	case "ssh.github.com":
		host = "github.com"
	case "altssh.gitlab.com":
		host = "gitlab.com"
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if host == "" || !strings.Contains(path, "/") {
		return address{}, false
	}
	return address{scheme + "://" + host, path}, true
}

// at makes one address of what the configuration names and what the remote has.
func at(configuredURL, configuredPath, remote string) (address, bool) {
	found, ok := addressOf(remote)
	server, path := strings.TrimSuffix(configuredURL, "/"), configuredPath
	if server == "" {
		server = found.server
	}
	if path == "" && ok {
		path = found.path
		// A server below a path, https://example.com/git, has it in https remotes too.
		if u, err := url.Parse(server); err == nil && strings.Trim(u.Path, "/") != "" {
			path = strings.TrimPrefix(path, strings.Trim(u.Path, "/")+"/")
		}
	}
	return address{server, path}, server != "" && strings.Contains(path, "/")
}

// page is the repository's address for people.
func (a address) page() string { return a.server + "/" + a.path }

// host is the server's name, with its port.
func (a address) host() string {
	u, err := url.Parse(a.server)
	if err != nil {
		return ""
	}
	return u.Host
}

// hosts are labels of names, and names, of servers whose kind is known by them.
var hosts = map[string]string{"github": config.ForgeGitHub, "gitlab": config.ForgeGitLab, "gitea": config.ForgeGitea, "forgejo": config.ForgeGitea, "codeberg": config.ForgeGitea,
	"ghe": config.ForgeGitHub}

// Guess returns the driver for the server that a remote's address names, and the repository's page there; both are empty if the name says nothing.
func Guess(remote string) (driver, page string) {
	found, ok := addressOf(remote)
	if !ok {
		return "", ""
	}
	for _, label := range strings.Split(hostname(found.server), ".") {
		if driver := hosts[label]; driver != "" {
			return driver, found.page()
		}
	}
	return "", ""
}
