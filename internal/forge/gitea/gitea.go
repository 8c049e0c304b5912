// Package gitea is the driver for Gitea and Forgejo. It owns the vendor's words: paths, fields, states and messages. It does not decide, wait
// or repeat: what the server refuses becomes a forge.Failure that says what can be done.
package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
)

// Config says which repository, and as whom.
type Config struct {
	// URL is the server's address for people, such as https://codeberg.org. It may have a path.
	URL string
	// Owner and Name are the repository's.
	Owner, Name string
	// Token returns the token for the next call. It is called for each one, and may answer from memory.
	Token func(context.Context) (string, error)
	// Client's transport is used, with its proxies and certificates. nil means Go's default.
	Client *http.Client
	// Now is the clock.
	Now func() time.Time
}

// Server is one repository on Gitea.
type Server struct {
	page        string // the server's address without a slash at the end
	owner, name string
	token       func(context.Context) (string, error)
	client      *http.Client
	now         func() time.Time
}

var (
	_ forge.Server       = (*Server)(nil)
	_ forge.Publisher    = (*Server)(nil)
	_ forge.Acknowledger = (*Server)(nil)
	_ forge.Reviewed     = (*Server)(nil)
	_ forge.Threaded     = (*Server)(nil)
	_ forge.Answering    = (*Server)(nil)
	_ forge.Labeler      = (*Server)(nil)
	_ forge.Logged       = (*Server)(nil)
	_ forge.CI           = (*Server)(nil)
	_ forge.Permitted    = (*Server)(nil)
	_ forge.Forked       = (*Server)(nil)
	_ forge.Forker       = (*Server)(nil)
	_ forge.Recorder     = (*Server)(nil)
	_ forge.Hooked       = (*Server)(nil)
	_ forge.Labeled      = (*Server)(nil)
	_ forge.Changing     = (*Server)(nil)
)

// accountName matches the names of accounts and repositories, which go into paths.
var accountName = lazy.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$|^-[A-Za-z0-9_.-]+$`)

// callLimit is how long one call may take.
const callLimit = time.Minute

// New returns the driver. It makes no call.
func New(c Config) (*Server, error) {
	for _, name := range []string{c.Owner, c.Name} {
		if !accountName().MatchString(name) {
			return nil, fmt.Errorf("%q is no repository of Gitea", c.Owner+"/"+c.Name)
		}
	}
	at, err := url.Parse(c.URL)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || at.RawQuery != "" || at.Fragment != "" {
		return nil, errors.New("the address of Gitea is not like https://git.example.org")
	}
	if at.User != nil {
		return nil, errors.New("the address of Gitea may not hold a user or a password")
	}
	if c.Token == nil {
		return nil, errors.New("Gitea needs a token") //nolint:staticcheck // a name
	}
	client := &http.Client{Timeout: callLimit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if c.Client != nil {
		client.Transport = c.Client.Transport
	}
	return &Server{page: strings.TrimRight(at.String(), "/"), owner: c.Owner, name: c.Name, token: c.Token, client: client, now: c.Now}, nil
}

// Kind is gitea.
func (s *Server) Kind() string { return "gitea" }

// Whoami returns the account of the token.
func (s *Server) Whoami(ctx context.Context) (forge.Account, error) {
	var u user
	if _, err := s.call(ctx, request{method: http.MethodGet, root: "user", out: &u}); err != nil {
		return forge.Account{}, fmt.Errorf("ask who the token belongs to: %w", err)
	}
	return forge.Account{Name: u.Login, Bot: u.bot()}, nil
}

// Repository reads the rights and the ways to merge.
func (s *Server) Repository(ctx context.Context) (forge.Repository, error) {
	r, err := s.repository(ctx)
	if err != nil {
		return forge.Repository{}, fmt.Errorf("read repository %s/%s: %w", s.owner, s.name, err)
	}
	return r.convert(s.page), nil
}

func (s *Server) repository(ctx context.Context) (r repository, err error) {
	_, err = s.call(ctx, request{method: http.MethodGet, out: &r})
	return r, err
}

// MayWrite reports whether the account may push, now. A token without an administrator's rights may not ask that, so then it is read from the
// list of those who can be assigned to issues.
func (s *Server) MayWrite(ctx context.Context, account string) (bool, error) {
	if !accountName().MatchString(account) {
		return false, nil
	}
	var level struct{ Permission string }
	_, err := s.call(ctx, request{method: http.MethodGet, path: "collaborators/%s/permission", args: []any{account}, out: &level})
	var failure *forge.Failure
	switch {
	case err == nil:
		return level.Permission == "write" || level.Permission == "admin" || level.Permission == "owner", nil
	case errors.Is(err, forge.ErrNotFound):
		return false, nil
	case !errors.As(err, &failure) || failure.Kind != forge.Forbidden:
		return false, fmt.Errorf("read the permission of %s: %w", account, err)
	}
	var writers []user
	if _, err := s.call(ctx, request{method: http.MethodGet, path: "assignees", out: &writers}); err != nil {
		return false, fmt.Errorf("list who may write: %w", err)
	}
	for _, u := range writers {
		if strings.EqualFold(u.Login, account) {
			return true, nil
		}
	}
	return false, nil
}
