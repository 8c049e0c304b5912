package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"signalbox/internal/forge"
)

// maxForks is how many forks are looked through for the account's own, if that has another name than the repository.
const maxForks = 500

// Fork finds a fork.
func (s *Server) Fork(ctx context.Context, name string) (forge.Repository, error) {
	found, err := s.fork(ctx, name)
	if err != nil {
		return forge.Repository{}, fmt.Errorf("find the fork %s of %s/%s: %w", name, s.owner, s.name, err)
	}
	return found.convert(s.page), nil
}

func (s *Server) fork(ctx context.Context, name string) (repository, error) {
	if name != "" {
		return s.forkAt(ctx, name)
	}
	me, err := s.Whoami(ctx)
	if err != nil {
		return repository{}, err
	}
	if found, err := s.forkAt(ctx, me.Name+"/"+s.name); !errors.Is(err, forge.ErrNotFound) && !errors.Is(err, errNoFork) {
		return found, err
	}
	all, err := pages[repository](ctx, s, request{method: http.MethodGet, path: "forks"}, maxForks)
	if err != nil {
		return repository{}, err
	}
	for _, r := range all {
		if strings.EqualFold(r.Owner.Login, me.Name) {
			return r, nil
		}
	}
	return repository{}, forge.ErrNotFound
}

// errNoFork: a repository has the name of a fork and is none.
var errNoFork = errors.New("it is no fork of the repository")

func (s *Server) forkAt(ctx context.Context, path string) (found repository, err error) {
	owner, name, _ := strings.Cut(path, "/")
	if !accountName().MatchString(owner) || !accountName().MatchString(name) {
		return found, &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("%q is no repository of Gitea", path)}
	}
	if _, err = s.call(ctx, request{method: http.MethodGet, root: "repos", path: "%s/%s", args: []any{owner, name}, out: &found}); err != nil {
		return found, err
	}
	if found.Parent == nil || !strings.EqualFold(found.Parent.FullName, s.owner+"/"+s.name) {
		return found, &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("%s: %w", path, errNoFork)}
	}
	return found, nil
}

// MakeFork makes the account's fork. Gitea answers when its branches are there, and refuses a second one.
func (s *Server) MakeFork(ctx context.Context) (forge.Repository, error) {
	var made repository
	_, err := s.call(ctx, request{method: http.MethodPost, path: "forks", in: map[string]any{}, out: &made})
	if refused := (*forge.Failure)(nil); errors.As(err, &refused) && refused.Status == http.StatusConflict {
		made, err = s.fork(ctx, "")
	}
	if err != nil {
		return forge.Repository{}, fmt.Errorf("fork %s/%s: %w", s.owner, s.name, err)
	}
	return made.convert(s.page), nil
}
