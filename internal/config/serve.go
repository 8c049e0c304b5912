package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"signalbox/internal/lazy"
)

// User is the file of the user's own, outside every repository: what concerns all of their projects. Nothing of it can come from a repository.
type User struct {
	Serve Serve `yaml:"serve"`
}

// Serve says where "signalbox serve" listens, and to whom.
type Serve struct {
	// Listen is the address. Beyond loopback it needs TLS, and users or OIDC.
	Listen string `yaml:"listen"`
	// Names are the host names by which browsers may call it, besides those of loopback. All others are refused.
	Names []string  `yaml:"names"`
	TLS   ServeTLS  `yaml:"tls"`
	OIDC  ServeOIDC `yaml:"oidc"`
	// Projects are the folders of the projects to serve, if the command names none.
	Projects []string `yaml:"projects"`
	// MaxParallel is how many runs of all projects together work at once; 0 is as many as each project allows.
	MaxParallel int `yaml:"max_parallel"`
	// Labels are those with which a request's run begins by itself.
	Labels []string `yaml:"labels"`
	// Metrics is the address where programs that watch this one get metrics without credentials; empty for none.
	Metrics string `yaml:"metrics"`
	// Users are the users by name.
	Users map[string]ServeUser `yaml:"users"`
}

// ServeTLS names the files with the certificate and its key (PEM). They are read again when they change.
type ServeTLS struct {
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
}

// ServeUser is one user.
type ServeUser struct {
	// Role is viewer, operator or approver.
	Role string `yaml:"role"`
	// Token is the hash that "signalbox serve token" prints; never the token itself.
	Token string `yaml:"token"`
}

// ServeOIDC is a provider of OpenID Connect that says who a user is.
type ServeOIDC struct {
	Issuer string `yaml:"issuer"`
	Client string `yaml:"client"`
	// Secret is the name of the environment variable with the client's secret; empty for a public client.
	Secret string `yaml:"secret"`
	// Scopes are asked for besides openid, email and profile.
	Scopes []string `yaml:"scopes"`
	// Groups is the claim that lists the user's groups.
	Groups string `yaml:"groups"`
	// Viewers, Operators and Approvers are email:ADDRESS, subject:ID or group:NAME. The highest role counts; without one there is no login.
	Viewers   []string `yaml:"viewers"`
	Operators []string `yaml:"operators"`
	Approvers []string `yaml:"approvers"`
}

// DefaultUser is the file of a user without one.
func DefaultUser() User {
	return User{Serve: Serve{Listen: "127.0.0.1:7411", OIDC: ServeOIDC{Groups: "groups"}}}
}

// UserName returns the path of the user's file: below $XDG_CONFIG_HOME or ~/.config; empty if neither is an absolute path.
func UserName(getenv func(string) string) string {
	folder := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(folder) { // a relative path: the XDG specification says to ignore it
		if folder = getenv("HOME"); !filepath.IsAbs(folder) {
			return ""
		}
		folder = filepath.Join(folder, ".config")
	}
	return filepath.Join(folder, "signalbox", "config.yaml")
}

// LoadUser reads the user's file over the defaults. A missing file is no error; one that others may write to is.
func LoadUser(path string, getenv func(string) string) (User, error) {
	u := DefaultUser()
	data, found, err := Read(path)
	if err != nil || !found {
		return u, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return u, fmt.Errorf("read configuration: %w", err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() && stat.Uid != 0 || info.Mode().Perm()&0o022 != 0 {
		return u, fmt.Errorf("configuration %s is not yours alone: take it over with chown and chmod go-w", path)
	}
	places, already, problems := parseInto(data, &u)
	if places == nil {
		return u, fmt.Errorf("configuration %s: %w", path, problems)
	}
	for i, project := range u.Serve.Projects {
		u.Serve.Projects[i] = atHome(project, getenv("HOME"))
	}
	for _, file := range []*string{&u.Serve.TLS.Certificate, &u.Serve.TLS.Key} {
		if *file = atHome(*file, getenv("HOME")); *file != "" && !filepath.IsAbs(*file) {
			*file = filepath.Join(filepath.Dir(path), *file)
		}
	}
	if err := places.located(errors.Join(problems, already.beyond(u.Serve.Validate(), places))); err != nil {
		return u, fmt.Errorf("configuration %s: %w", path, err)
	}
	return u, nil
}

// CurrentUser returns a function that returns the user's file as it is now, and reads it only if it changed.
func CurrentUser(path string, getenv func(string) string) func() (User, error) {
	var (
		mu   sync.Mutex
		seen fs.FileInfo
		last User
		err  error
		read bool
	)
	return func() (User, error) {
		mu.Lock()
		defer mu.Unlock()
		now, statErr := os.Stat(path)
		same := statErr == nil && seen != nil && os.SameFile(now, seen) && now.ModTime().Equal(seen.ModTime()) && now.Size() == seen.Size() && now.Mode() == seen.Mode()
		if !read || !same && (statErr == nil || seen != nil) {
			last, err = LoadUser(path, getenv)
			seen, read = now, true
		}
		return last, err
	}
}

// Loopback reports whether only this machine reaches the address.
func (s *Serve) Loopback() bool {
	host, _, _ := net.SplitHostPort(s.Listen)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

var (
	serveUserName = lazy.Pattern(`^[a-z0-9][a-z0-9.@-]{0,62}$`)
	hostName      = lazy.Pattern(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	member        = lazy.Pattern(`^(email|subject|group):[^\s\pC]{1,200}$`)
)

// Validate says what is wrong with the settings.
func (s *Serve) Validate() error {
	var problems []error
	if s.MaxParallel < 0 {
		problems = append(problems, wrong("serve.max_parallel", " is %d: want 1 or more, or 0 for no limit of its own", s.MaxParallel))
	}
	if _, _, err := net.SplitHostPort(s.Metrics); err != nil && s.Metrics != "" {
		problems = append(problems, wrong("serve.metrics", " is %q: want host:port", shown(s.Metrics)))
	}
	if _, port, err := net.SplitHostPort(s.Listen); err != nil || port == "" {
		problems = append(problems, wrong("serve.listen", " is %q: want host:port", shown(s.Listen)))
	} else if !s.Loopback() {
		if s.TLS.Certificate == "" {
			problems = append(problems, wrong("serve.listen", " is reached from other machines: want tls.certificate and tls.key"))
		}
		if len(s.Users) == 0 && s.OIDC.Issuer == "" {
			problems = append(problems, wrong("serve.listen", " is reached from other machines: want users or oidc"))
		}
		if host, _, _ := net.SplitHostPort(s.Listen); len(s.Names) == 0 && (host == "" || net.ParseIP(host).IsUnspecified()) {
			problems = append(problems, wrong("serve.listen", " takes every address of this machine: want names, by which browsers call it"))
		}
	}
	if (s.TLS.Certificate == "") != (s.TLS.Key == "") {
		problems = append(problems, wrong("serve.tls", ": want certificate and key, or neither"))
	}
	for i, name := range s.Names {
		if !hostName().MatchString(name) {
			problems = append(problems, wrong(fmt.Sprintf("serve.names[%d]", i+1), " is %q: want a host name in small letters, without a port", shown(name)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Users)) {
		u, key := s.Users[name], "serve.users."+name
		if !serveUserName().MatchString(name) {
			problems = append(problems, wrong(key, ": a user's name has small letters, digits, dots, hyphens and @"))
		}
		problems = append(problems, oneOf(key+".role", u.Role, "viewer", "operator", "approver"))
		if !strings.HasPrefix(u.Token, "$argon2id$") {
			problems = append(problems, wrong(key+".token", " is not a hash: type signalbox serve token %s, and put what it prints here", shown(name)))
		}
	}
	return errors.Join(append(problems, s.OIDC.validate()...)...)
}

func (o *ServeOIDC) validate() (problems []error) {
	if o.Issuer == "" {
		return nil
	}
	if u, err := url.Parse(o.Issuer); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && net.ParseIP(u.Hostname()).IsLoopback()) {
		problems = append(problems, wrong("serve.oidc.issuer", " is not an https address"))
	}
	if o.Client == "" {
		problems = append(problems, wrong("serve.oidc.client", " is empty: want the client's id"))
	}
	if o.Secret != "" && !variableName().MatchString(o.Secret) {
		problems = append(problems, wrong("serve.oidc.secret", " is not the name of an environment variable: the secret itself does not belong in this file"))
	}
	for key, members := range map[string][]string{"viewers": o.Viewers, "operators": o.Operators, "approvers": o.Approvers} {
		for i, m := range members {
			if !member().MatchString(m) {
				problems = append(problems, wrong(fmt.Sprintf("serve.oidc.%s[%d]", key, i+1), " is %q: want email:ADDRESS, subject:ID or group:NAME", shown(m)))
			}
		}
	}
	if cmp.Or(len(o.Viewers), len(o.Operators), len(o.Approvers)) == 0 {
		problems = append(problems, wrong("serve.oidc", " gives no one a role: want viewers, operators or approvers"))
	}
	return problems
}
