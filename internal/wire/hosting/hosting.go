// Package hosting builds the forge of a project whose issues and pull requests are on a server: it finds the server, the repository and the
// credentials, and joins the server's issues with the request files of the project. It reaches no server before something of it is asked for.
package hosting

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/forge/budget"
	"signalbox/internal/forge/gitea"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/gitlab"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/local"
	"signalbox/internal/perform"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

// Config is everything that a forge on a server is built of. All fields are required.
type Config struct {
	Settings config.Forge
	// Remote returns the address of the remote that branches are pushed to.
	Remote func(context.Context) (string, error)
	// Fork returns what git pushes to for the path of a fork.
	Fork func(ctx context.Context, path string) (string, error)
	// Files has the request files, and is the git half of the forge.
	Files *local.Forge
	Store *store.Store
	// Exec runs the program that is asked for the token.
	Exec process.Executor
	Env  func(string) string
	// Proxy and Roots are the ways out of this machine.
	Proxy  func(*url.URL) (*url.URL, error)
	Roots  func() (func() *x509.CertPool, error)
	Redact *redact.Redactor
	// Within makes a path of the configuration one of this machine.
	Within func(string) string
	Clock  func() time.Time
	Logger *slog.Logger
}

// Forge is the forge of the project. Issues have their numbers as ids, request files their own.
type Forge struct {
	config Config
	mu     sync.Mutex
	built  *built
	// told is when a webhook last told of a check, and toldOf when of something else.
	told, toldOf time.Time
}

// built is what the first use makes.
type built struct {
	address     address
	credentials perform.Access
	server      forge.Server
	calls       *budget.Transport
	forge       *hosted.Forge
	clock       func() time.Time
	forkAddress func(context.Context, string) (string, error)
}

// New returns the forge. It reads and reaches nothing.
func New(c Config) *Forge { return &Forge{config: c} }

// Name returns the driver's name in the configuration.
func (f *Forge) Name() string { return f.config.Settings.Driver }

// open builds the forge at its first use.
func (f *Forge) open(ctx context.Context) (*built, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.built != nil {
		return f.built, nil
	}
	b, err := f.config.build(ctx, f.toldOfChecks, f.toldOfPeople)
	if err == nil {
		f.built = b
	}
	return b, err
}

func (c Config) build(ctx context.Context, told, toldOfPeople func() bool) (*built, error) {
	remote, err := c.Remote(ctx)
	if err != nil && (c.Settings.URL == "" || c.Settings.Repository == "") {
		return nil, &problem.Error{Err: fmt.Errorf("find the repository on %s: %w", c.Settings.Driver, err),
			Hint: "add the remote: git remote add " + local.Remote + " https://…; or set url and repository below forge in " + config.Name}
	}
	c.learnPassword(remote)
	b := &built{clock: c.Clock, forkAddress: c.Fork}
	var ok bool
	if b.address, ok = at(c.Settings.URL, c.Settings.Repository, remote); !ok {
		return nil, &problem.Error{Err: fmt.Errorf("the address of the remote %q names no repository on a server", local.Remote),
			Hint: "set url and repository below forge in " + config.Name}
	}
	b.credentials = credentialsOf(c.Settings, b.address.host(), c.Env)
	if b.server, err = c.driver(b); err != nil {
		return nil, err
	}
	way := hosted.Way(c.Settings.Merge)
	if way == config.MergeAuto {
		way = ""
	}
	b.forge = hosted.New(hosted.Config{Server: b.server, Git: c.Files, Store: c.Store, Merge: way, Fork: c.Settings.Fork, Reviewers: c.Settings.Reviewers, WithoutCI: c.Settings.CI == config.CINone,
		Statuses: c.Settings.Statuses, Labels: c.Settings.Labels, Told: told, ToldOfPeople: toldOfPeople, Clock: c.Clock, Logger: c.Logger})
	return b, nil
}

// learnPassword has what a remote's address holds of a password removed from everything that is written.
func (c Config) learnPassword(remote string) {
	if u, err := url.Parse(remote); err == nil && u.User != nil {
		password, _ := u.User.Password()
		c.Redact.Add(map[string]string{"remote (password)": password, "remote (user)": u.User.Username()})
	}
}

// driver makes the driver that the configuration names.
func (c Config) driver(b *built) (forge.Server, error) {
	owner, name, _ := strings.Cut(b.address.path, "/")
	counted, client, err := c.client(owner)
	if err != nil {
		return nil, err
	}
	b.calls = counted
	var driver forge.Server
	switch c.Settings.Driver {
	case config.ForgeGitea:
		driver, err = gitea.New(gitea.Config{URL: b.address.server, Owner: owner, Name: name, Client: client, Now: c.Clock,
			Token: c.token(b.credentials, b.address.host())})
	case config.ForgeGitLab:
		driver, err = gitlab.New(gitlab.Config{URL: b.address.server, Path: b.address.path, Client: client, Now: c.Clock,
			Token: c.token(b.credentials, b.address.host()), Shown: shown(b.credentials)})
	case config.ForgeGitHub:
		s := github.Config{URL: b.address.server, Owner: owner, Name: name, Client: client, Now: c.Clock}
		if c.Settings.App.ID == "" {
			s.Token = c.token(b.credentials, b.address.host())
		} else {
			key, err := github.ReadKey(c.Within(c.Settings.App.Key))
			if err != nil {
				return nil, &problem.Error{Err: err, Hint: "correct forge.app.key in " + config.Name}
			}
			s.App = &github.App{ID: c.Settings.App.ID, Installation: c.Settings.App.Installation, Key: key}
		}
		driver, err = github.New(s)
	default:
		return nil, &problem.Error{Err: fmt.Errorf("there is no driver for %s yet", c.Settings.Driver), Hint: "docs/forges.md says which there are"}
	}
	if err != nil {
		return nil, &problem.Error{Err: err, Hint: "set url and repository below forge in " + config.Name}
	}
	return driver, nil
}

// Access says what the server is shown, as far as that is known without reaching it.
func (f *Forge) Access() perform.Access {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.built == nil {
		return credentialsOf(f.config.Settings, "", f.config.Env)
	}
	return f.built.credentials
}

// Server is the server, and the repository's address for people.
func (f *Forge) Server(ctx context.Context) (server forge.Server, page string, err error) {
	b, err := f.open(ctx)
	if err != nil {
		return nil, "", err
	}
	return b.server, b.address.page(), nil
}

// Files has the requests that are files.
func (f *Forge) Files() forge.Forge { return f.config.Files }
