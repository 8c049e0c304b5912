package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// Fork asks by GraphQL for the account's own: a popular repository has thousands, and a fork may have another name.
func (s *Server) Fork(ctx context.Context, name string) (forge.Repository, error) {
	found, err := s.fork(ctx, name)
	return found, s.wrap(err, "find the fork %s of %s/%s", name, s.owner, s.name)
}

func (s *Server) fork(ctx context.Context, name string) (forge.Repository, error) {
	if name == "" {
		var answer struct {
			Repository struct {
				Forks struct {
					Nodes []struct{ NameWithOwner string }
				}
			}
		}
		if err := s.query(ctx, forkQuery, map[string]any{"owner": s.owner, "name": s.name}, &answer); err != nil {
			return forge.Repository{}, err
		}
		if len(answer.Repository.Forks.Nodes) == 0 {
			return forge.Repository{}, forge.ErrNotFound
		}
		name = answer.Repository.Forks.Nodes[0].NameWithOwner
	}
	owner, short, _ := strings.Cut(name, "/")
	if !ownerName().MatchString(owner) || !repositoryName().MatchString(short) {
		return forge.Repository{}, &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("%q is no repository of GitHub", name)}
	}
	var answer repositoryAnswer
	if _, err := s.transport.Do(ctx, rest.Call{Method: http.MethodGet, Root: "repos", Path: "%s/%s", Args: []any{owner, short}, Out: &answer}); err != nil {
		return forge.Repository{}, err
	}
	found := repository(answer)
	if ours := s.owner + "/" + s.name; !strings.EqualFold(found.Parent, ours) && (answer.Source == nil || !strings.EqualFold(answer.Source.FullName, ours)) {
		return forge.Repository{}, &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("%s is no fork of %s/%s", name, s.owner, s.name)}
	}
	return found, nil
}

// filling is how long to wait for GitHub to fill a fork.
const filling = 5 * time.Second

// MakeFork makes the account's fork. GitHub answers before it has its branches, and finds the one that there is already.
func (s *Server) MakeFork(ctx context.Context) (forge.Repository, error) {
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: "forks", In: map[string]any{"default_branch_only": true}})
	if err != nil && !errors.Is(err, rest.ErrNotComputed) {
		return forge.Repository{}, s.wrap(err, "fork %s/%s", s.owner, s.name)
	}
	found, err := s.fork(ctx, "")
	if err == nil {
		owner, short, _ := strings.Cut(found.Path, "/")
		_, err = s.transport.Do(ctx, rest.Call{Method: http.MethodGet, Root: "repos", Path: "%s/%s/branches/%s", Args: []any{owner, short, found.DefaultBranch}})
	}
	if errors.Is(err, forge.ErrNotFound) {
		err = &forge.Failure{Kind: forge.Unavailable, RetryAfter: filling, Err: errors.New("GitHub still makes the fork")}
	}
	return found, s.wrap(err, "fork %s/%s", s.owner, s.name)
}
