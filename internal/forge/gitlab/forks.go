package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// Fork finds a fork. The account's own is one in its own namespace, if there are several.
func (s *Server) Fork(ctx context.Context, name string) (forge.Repository, error) {
	p, err := s.fork(ctx, name)
	if err != nil {
		return forge.Repository{}, s.wrap(err, "find the fork %s of %s", name, s.path)
	}
	return p.convert(p.level()), nil
}

func (s *Server) fork(ctx context.Context, path string) (found project, err error) {
	if path == "" {
		if path, err = s.ownFork(ctx); err != nil {
			return found, err
		}
	}
	if found, err = s.projectAt(ctx, path); err != nil {
		return found, err
	}
	if found.Parent == nil || !strings.EqualFold(found.Parent.Path, s.path) {
		return found, &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("%s is no fork of %s", path, s.path)}
	}
	return found, nil
}

func (s *Server) ownFork(ctx context.Context) (path string, err error) {
	me, err := s.me(ctx)
	if err != nil {
		return "", err
	}
	err = rest.Pages(func(page url.Values) ([]project, *http.Response, error) {
		return rest.Get[[]project](ctx, s.transport, rest.Filtered(page, "owned", "true"), "forks")
	}, func(p project) bool {
		own := strings.EqualFold(p.Path[:max(strings.LastIndex(p.Path, "/"), 0)], me.Username)
		if own || path == "" {
			path = p.Path
		}
		return !own
	})
	if err == nil && path == "" {
		err = forge.ErrNotFound
	}
	return path, err
}

func (s *Server) projectAt(ctx context.Context, path string) (p project, err error) {
	if !projectPath.Regexp().MatchString(path) {
		return p, &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("%q is no project of GitLab", path)}
	}
	_, err = s.transport.Do(ctx, rest.Call{Method: http.MethodGet, Root: "projects", Path: "%s", Args: []any{path}, Out: &p})
	return p, err
}

// filling is how long to wait for GitLab to fill a fork.
const filling = 5 * time.Second

// MakeFork makes a fork in the account's namespace. GitLab answers before it has its branches, and refuses a second one of the same name.
func (s *Server) MakeFork(ctx context.Context) (forge.Repository, error) {
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: "fork", In: map[string]any{}})
	if _, exists := status(err, http.StatusConflict); exists {
		err = nil
	}
	var made project
	if err == nil {
		made, err = s.fork(ctx, "")
	}
	if err == nil && slices.Contains([]string{"scheduled", "started"}, made.Filled) {
		err = &forge.Failure{Kind: forge.Unavailable, RetryAfter: filling, Err: errors.New("GitLab still makes the fork")}
	}
	return made.convert(made.level()), s.wrap(err, "fork %s", s.path)
}

// proposal names the fork that a merge request comes from: GitLab has its number there.
func (s *Server) proposal(ctx context.Context, m mergeRequest) (forge.Proposal, error) {
	p := m.convert()
	if m.From == m.Into {
		return p, nil
	}
	known, ok := s.forks.Load(m.From)
	if !ok {
		var from project
		_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodGet, Root: "projects", Path: "%d", Args: []any{m.From}, Out: &from})
		switch {
		case errors.Is(err, forge.ErrNotFound) || m.From == 0: // or it is not for us to see
			p.Fork = forge.ForkGone
			return p, nil
		case err != nil:
			return p, err
		}
		known, _ = s.forks.LoadOrStore(m.From, from.Path)
	}
	p.Fork, _ = known.(string)
	return p, nil
}
