package hosting

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"signalbox/internal/config"
	"signalbox/internal/forge/local"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

// ForkAddress returns what git pushes to for the path of a fork: the remote that has it, or an address in the form of that of origin. It never
// holds a password: git's own credentials are asked for. remotes are addresses by name.
func ForkAddress(settings config.Forge, remotes map[string]string, fork string) (string, error) {
	origin := remotes[local.Remote]
	own, ok := at(settings.URL, settings.Repository, origin)
	if ok {
		for _, name := range slices.Sorted(maps.Keys(remotes)) {
			if !sameFork(settings, own, origin, remotes[name], fork) {
				continue
			}
			if name == local.Remote {
				return "", &problem.Error{Err: fmt.Errorf("the remote %q is the fork %s, and Signalbox takes the base branch from there", local.Remote, fork),
					Hint: "let the repository itself be the remote " + local.Remote + ": git remote rename origin fork; git remote add origin ADDRESS"}
			}
			return name, nil
		}
	}
	path, suffix := strings.TrimRight(origin, "/"), ""
	if cut, had := strings.CutSuffix(path, ".git"); had {
		path, suffix = cut, ".git"
	}
	below := len(path) - len(own.path)
	if !ok || below <= 0 || !strings.EqualFold(path[below:], own.path) || !strings.ContainsRune("/:", rune(path[below-1])) {
		return "", &problem.Error{Err: fmt.Errorf("the address of the fork %s can't be told from that of the remote %q", redact.Line(fork, maxShown), local.Remote),
			Hint: "add it as a remote: git remote add fork ADDRESS"}
	}
	return withoutUser(path[:below] + fork + suffix), nil
}

// sameFork reports whether a remote's address is that of a fork on the server, or on the host that origin has.
func sameFork(settings config.Forge, own address, origin, remote, fork string) bool {
	found, ok := at(settings.URL, "", remote)
	if !ok || !strings.EqualFold(found.path, fork) {
		return false
	}
	there, _ := addressOf(remote)
	beside, _ := addressOf(origin)
	name := hostname(there.server)
	return name == hostname(own.server) || name == hostname(beside.server)
}

func hostname(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// withoutUser leaves out a name and a password of the web.
func withoutUser(remote string) string {
	if u, err := url.Parse(remote); err == nil && u.User != nil && (u.Scheme == "https" || u.Scheme == "http") {
		u.User = nil
		return u.String()
	}
	return remote
}
