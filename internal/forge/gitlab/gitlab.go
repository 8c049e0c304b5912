// Package gitlab is the driver for GitLab, on gitlab.com or one's own server. It owns the vendor's words: paths, fields, states and messages. It
// does not decide, wait or repeat: what the server refuses becomes a forge.Failure that says what can be done.
package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
	"signalbox/internal/lazy"
)

// Config says which project, and as whom.
type Config struct {
	// URL is the server's address for people, such as https://gitlab.com. It may have a path.
	URL string
	// Path is the project's, with every group above it: group/subgroup/name.
	Path string
	// Token returns the token for the next call. It is called for each one, and may answer from memory.
	Token func(context.Context) (string, error)
	// Shown is how the token is shown.
	Shown Shown
	// Client's transport is used, with its proxies and certificates. nil means Go's default.
	Client *http.Client
	// Now is the clock.
	Now func() time.Time
}

// Shown is how a token is shown to GitLab, by the kind of the token.
type Shown string

const (
	// PrivateToken is a personal, group or project access token.
	PrivateToken Shown = "PRIVATE-TOKEN"
	// Bearer is a token that glab got, which may be one of OAuth.
	Bearer Shown = "Bearer"
	// JobToken is a CI job's own token. It reaches little more than jobs, pipelines and packages.
	JobToken Shown = "JOB-TOKEN"
)

// Server is one project on GitLab.
type Server struct {
	page, path string // page is the server's address without a slash at the end
	shown      Shown
	plain      *http.Client // carries no token
	transport  *rest.Transport
	forks      sync.Map // of the numbers of forks, their paths
}

var (
	_ forge.Server       = (*Server)(nil)
	_ forge.Publisher    = (*Server)(nil)
	_ forge.Labeler      = (*Server)(nil)
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
	_ forge.Labeled      = (*Server)(nil)
	_ forge.Changing     = (*Server)(nil)
	_ forge.Hooked       = (*Server)(nil)
)

// projectPath is a project's path with its groups.
var projectPath = lazy.Expression{Text: `^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$`}

// New returns the driver. It makes no call.
func New(c Config) (*Server, error) {
	if !projectPath.Regexp().MatchString(c.Path) {
		return nil, fmt.Errorf("%q is no project of GitLab", c.Path)
	}
	at, err := url.Parse(strings.TrimRight(c.URL, "/"))
	if err != nil || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
		return nil, errors.New("the address of GitLab is not like https://gitlab.example.com") // it isn't quoted: it can hold a password
	}
	if err := rest.Secure(at); err != nil {
		return nil, err
	}
	if c.Token == nil {
		return nil, errors.New("GitLab needs a token") //nolint:staticcheck // a name
	}
	s := &Server{page: at.String(), path: c.Path, shown: c.Shown}
	var base http.RoundTripper
	if c.Client != nil {
		base = c.Client.Transport
	}
	api := *at
	api.Path += "/api/v4/"
	s.transport = rest.New(rest.Config{Base: base, API: &api, Vendor: "GitLab", Repository: "projects/" + url.PathEscape(c.Path), Refusal: s.refusal, Token: c.Token, Sign: s.sign, Now: c.Now,
		Limits: "Ratelimit-"})
	s.plain = &http.Client{Transport: s.transport.Base}
	return s, nil
}

func (s *Server) sign(r *http.Request, token string) {
	if s.shown == Bearer {
		r.Header.Set("Authorization", "Bearer "+token)
		return
	}
	header := s.shown
	if header == "" {
		header = PrivateToken
	}
	r.Header.Set(string(header), token)
}

// Kind is gitlab.
func (s *Server) Kind() string { return "gitlab" }

// Whoami returns the account of the token. A job's token may not ask for its user, but for its job.
func (s *Server) Whoami(ctx context.Context) (forge.Account, error) {
	me, err := s.me(ctx)
	if err != nil {
		return forge.Account{}, s.wrap(err, "ask who the token belongs to")
	}
	return forge.Account{Name: me.Username, Bot: me.Bot || isBot(me.Username)}, nil
}

func (s *Server) me(ctx context.Context) (me user, err error) {
	if s.shown == JobToken {
		var job struct{ User user }
		_, err = s.transport.Do(ctx, rest.Call{Method: http.MethodGet, Root: "job", Out: &job})
		me = job.User
	} else {
		_, err = s.transport.Do(ctx, rest.Call{Method: http.MethodGet, Root: "user", Out: &me})
	}
	if err == nil && me.Username == "" {
		err = errNoData
	}
	return me, err
}

// Repository reads the rights and the ways to merge.
func (s *Server) Repository(ctx context.Context) (forge.Repository, error) {
	p, err := s.project(ctx)
	level := p.level()
	if err == nil && level == 0 { // a right by invitation of a group is not in the project
		level, err = s.levelOfMember(ctx)
	}
	if err != nil {
		return forge.Repository{}, s.wrap(err, "read project %s", s.path)
	}
	return p.convert(level), nil
}

func (s *Server) project(ctx context.Context) (p project, err error) {
	p, _, err = rest.Get[project](ctx, s.transport, nil, "")
	return p, err
}

func (s *Server) levelOfMember(ctx context.Context) (int, error) {
	me, err := s.me(ctx)
	if err != nil {
		return 0, err
	}
	m, _, err := rest.Get[member](ctx, s.transport, nil, "members/all/%d", me.ID)
	if errors.Is(err, forge.ErrNotFound) {
		return 0, nil
	}
	return m.AccessLevel, err
}

// MayWrite reports whether the account may push, now: a Developer or more, here or by a group.
func (s *Server) MayWrite(ctx context.Context, account string) (may bool, err error) {
	err = rest.Pages(func(page url.Values) ([]member, *http.Response, error) {
		return rest.Get[[]member](ctx, s.transport, rest.Filtered(page, "query", account), "members/all")
	}, func(m member) bool {
		may = may || strings.EqualFold(m.Username, account) && m.State == "active" && m.AccessLevel >= developer
		return !may
	})
	return may, s.wrap(err, "read the permission of %s", account)
}
