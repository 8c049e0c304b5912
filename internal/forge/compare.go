package forge

import (
	"net/url"
	"slices"
	"strings"

	"signalbox/internal/lazy"
)

// hosted is the address of a repository's pages. Each kind of forge has its own path for the difference between two commits.
type hosted struct{ scheme, host, path string }

// compare maps a label of the host's name to the path below a repository's page. Bitbucket's own servers use other paths than bitbucket.org, so
// only bitbucket.org is listed.
var compare = []struct{ label, path string }{
	{"github", "/compare/BASE...HEAD"},
	{"gitlab", "/-/compare/BASE...HEAD"},
	{"gitea", "/compare/BASE...HEAD"},
	{"forgejo", "/compare/BASE...HEAD"},
	{"codeberg.org", "/compare/BASE...HEAD"},
	{"bitbucket.org", "/branches/compare/HEAD%0DBASE"},
}

var (
	repositoryPath = lazy.Expression{Text: `^[\w~-][\w.~-]*(/[\w~-][\w.~-]*)+$`}
	hostName       = lazy.Expression{Text: `^[a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]+)?$`}
	secureShell    = lazy.Expression{Text: `^(?:[^@/:]+@)?([^@/:]+):([^/].*)$`}
)

// CompareURL returns the page on which a known forge shows what head has and base lacks. Both commits must have been pushed to remote, the URL of a
// git remote. It returns "" for other remotes. Of the URL it uses only host and path, never its credentials.
func CompareURL(remote, base, head string) string {
	at, ok := hostedAt(remote)
	if !ok || base == "" || head == "" {
		return ""
	}
	name, _, _ := strings.Cut(at.host, ":")
	for _, known := range compare {
		if name == known.label || slices.Contains(strings.Split(name, "."), known.label) {
			return at.scheme + "://" + at.host + "/" + at.path + strings.NewReplacer("BASE", base, "HEAD", head).Replace(known.path)
		}
	}
	return ""
}

// hostedAt reads https://host/path, ssh://git@host:22/path and git@host:path.
func hostedAt(remote string) (at hosted, ok bool) {
	at.scheme = "https"
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		at.path = u.Path
		switch u.Scheme {
		case "http", "https":
			at.scheme, at.host = u.Scheme, u.Host
		case "ssh", "git+ssh", "git":
			at.host = u.Hostname() // the port of SSH is not the port of the pages
		}
	} else if found := secureShell.Regexp().FindStringSubmatch(remote); found != nil && !strings.Contains(remote, "://") {
		at.host, at.path = found[1], found[2]
	}
	at.host = strings.ToLower(at.host)
	for _, over443 := range []string{"ssh.", "altssh."} { // hosts that offer SSH on port 443
		at.host = strings.TrimPrefix(at.host, over443)
	}
	at.path = strings.TrimSuffix(strings.Trim(at.path, "/"), ".git")
	return at, hostName.Regexp().MatchString(at.host) && repositoryPath.Regexp().MatchString(at.path)
}
