// Package github is the driver for GitHub and GitHub Enterprise. It owns the vendor's words: paths, fields, states and errors.
// It does not decide, wait or repeat: what GitHub refuses becomes a forge.Failure that says when to ask again.
package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
	"signalbox/internal/lazy"
)

// Config says which repository, and as whom.
type Config struct {
	// URL is the server's address for people; empty means https://github.com.
	URL string
	// Owner and Name are the repository's.
	Owner, Name string
	// Token returns the token for the next call. It is called for each one, and may answer from memory.
	Token func(context.Context) (string, error)
	// App gives the tokens of an App's installation. Exactly one of Token and App is set.
	App *App
	// Client's transport is used, with its proxies and certificates. nil means Go's default.
	Client *http.Client
	// Now is the clock.
	Now func() time.Time
}

// Server is one repository on GitHub.
type Server struct {
	owner, name string
	at          address
	app         *installation
	// unredirected returns redirections instead of following them; plain carries no token.
	unredirected, plain *http.Client
	transport           *rest.Transport
	now                 func() time.Time

	mu sync.Mutex
	// threads are the discussions that were read, by pull request. They only save calls.
	threads map[int]seenThreads
}

var (
	_ forge.Server       = (*Server)(nil)
	_ forge.Publisher    = (*Server)(nil)
	_ forge.Labeler      = (*Server)(nil)
	_ forge.Minimizer    = (*Server)(nil)
	_ forge.Acknowledger = (*Server)(nil)
	_ forge.Reviewed     = (*Server)(nil)
	_ forge.Threaded     = (*Server)(nil)
	_ forge.Answering    = (*Server)(nil)
	_ forge.Queue        = (*Server)(nil)
	_ forge.Logged       = (*Server)(nil)
	_ forge.CI           = (*Server)(nil)
	_ forge.Permitted    = (*Server)(nil)
	_ forge.Forked       = (*Server)(nil)
	_ forge.Forker       = (*Server)(nil)
	_ forge.Hooked       = (*Server)(nil)
	_ forge.Labeled      = (*Server)(nil)
	_ forge.Changing     = (*Server)(nil)
)

// ownerName and repositoryName are the characters that GitHub allows. They go into paths of the API.
var (
	ownerName      = lazy.Pattern(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
	repositoryName = lazy.Pattern(`^[A-Za-z0-9._-]+$`)
)

// New returns the driver. It makes no call.
func New(c Config) (*Server, error) {
	if !ownerName().MatchString(c.Owner) || !repositoryName().MatchString(c.Name) || strings.Trim(c.Name, ".") == "" {
		return nil, fmt.Errorf("%q is no repository of GitHub", c.Owner+"/"+c.Name)
	}
	if (c.Token == nil) == (c.App == nil) {
		return nil, errors.New("GitHub needs either a token or an App")
	}
	at, err := addressOf(c.URL)
	if err != nil {
		return nil, err
	}
	s := &Server{owner: c.Owner, name: c.Name, at: at, now: c.Now}
	return s, s.connect(c)
}

// connect makes the clients: all go through one transport, which alone knows the token.
func (s *Server) connect(c Config) (err error) {
	base := http.DefaultTransport
	if c.Client != nil && c.Client.Transport != nil {
		base = c.Client.Transport
	}
	s.plain = &http.Client{Transport: base}
	s.transport = rest.New(rest.Config{Base: base, API: s.at.api, Vendor: "GitHub", Repository: "repos/" + s.owner + "/" + s.name, Refusal: s.refusal, Token: c.Token, Now: c.Now, Limits: "X-Ratelimit-",
		Header: map[string]string{"Accept": "application/vnd.github+json", "X-Github-Api-Version": "2022-11-28"},
		Sign:   func(r *http.Request, token string) { r.Header.Set("Authorization", "Bearer "+token) }})
	if c.App != nil {
		if s.app, err = newInstallation(c.App, s); err != nil {
			return err
		}
		s.transport.Token, s.transport.Forget = s.app.token, s.app.forget
	}
	s.unredirected = &http.Client{Transport: s.transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return nil
}

// Kind is github.
func (s *Server) Kind() string { return "github" }

// Whoami asks by GraphQL: REST's GET /user answers only persons, and this answers an App's installation and the Actions token too.
func (s *Server) Whoami(ctx context.Context) (forge.Account, error) {
	var answer struct {
		Viewer struct{ Login string }
	}
	if err := s.query(ctx, viewerQuery, nil, &answer); err != nil {
		return forge.Account{}, s.wrap(err, "ask who the token belongs to")
	}
	return forge.Account{Name: answer.Viewer.Login, Bot: strings.HasSuffix(answer.Viewer.Login, botSuffix)}, nil
}

// Repository reads the rights and the ways to merge.
func (s *Server) Repository(ctx context.Context) (forge.Repository, error) {
	r, _, err := rest.Get[repositoryAnswer](ctx, s.transport, nil, "")
	if err != nil {
		return forge.Repository{}, s.wrap(err, "read repository %s/%s", s.owner, s.name)
	}
	return repository(r), nil
}

// MayWrite reports whether the account may push, now.
func (s *Server) MayWrite(ctx context.Context, account string) (bool, error) {
	if !ownerName().MatchString(strings.TrimSuffix(account, botSuffix)) {
		return false, nil
	}
	level, _, err := rest.Get[struct{ Permission string }](ctx, s.transport, nil, "collaborators/%s/permission", account)
	if err = s.wrap(err, "read the permission of %s", account); errors.Is(err, forge.ErrNotFound) {
		return false, nil
	}
	return err == nil && (level.Permission == "write" || level.Permission == "admin"), err
}
