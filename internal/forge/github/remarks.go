package github

import (
	"context"
	"net/http"
	"net/url"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// Remarks reads the comments below an issue or pull request. Those on lines of a change are Threads.
func (s *Server) Remarks(ctx context.Context, on forge.Subject) (found []forge.Remark, err error) {
	err = rest.Pages(func(page url.Values) ([]commentAnswer, *http.Response, error) {
		return rest.Get[[]commentAnswer](ctx, s.transport, page, "issues/%d/comments", on.Number)
	}, func(c commentAnswer) bool {
		found = append(found, c.remark(on))
		return true
	})
	return found, s.wrap(err, "read the comments on %s", on)
}

func (s *Server) CreateRemark(ctx context.Context, on forge.Subject, body string) (forge.Remark, error) {
	var made commentAnswer
	_, err := s.transport.Do(ctx, rest.Call{
		Method: http.MethodPost, Path: "issues/%d/comments", Args: []any{on.Number}, In: map[string]string{"body": body}, Out: &made,
	})
	if err != nil {
		return forge.Remark{}, s.wrap(err, "comment on %s", on)
	}
	return made.remark(on), nil
}

// EditRemark needs no subject: ids of comments are unique in the repository.
func (s *Server) EditRemark(ctx context.Context, _ forge.Subject, id int64, body string) error {
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPatch, Path: "issues/comments/%d", Args: []any{id}, In: map[string]string{"body": body}})
	return s.wrap(err, "edit comment %d", id)
}

// Minimize hides a comment as resolved. Only GraphQL can, and it has ids of its own.
func (s *Server) Minimize(ctx context.Context, remark forge.Remark) error {
	found, _, err := rest.Get[commentAnswer](ctx, s.transport, nil, "issues/comments/%d", remark.ID)
	if err != nil {
		return s.wrap(err, "read comment %d", remark.ID)
	}
	err = s.query(ctx, minimizeMutation, map[string]any{"comment": found.NodeID}, nil)
	return s.wrap(err, "minimize comment %d", remark.ID)
}

// Acknowledge reacts with eyes. GitHub keeps one reaction of a kind for each account.
func (s *Server) Acknowledge(ctx context.Context, remark forge.Remark) error {
	_, err := s.transport.Do(ctx, rest.Call{
		Method: http.MethodPost, Path: "issues/comments/%d/reactions", Args: []any{remark.ID}, In: map[string]string{"content": "eyes"},
	})
	return s.wrap(err, "acknowledge comment %d", remark.ID)
}
