package github

import (
	"context"
	"fmt"

	"github.com/google/go-github/v89/github"

	"signalbox/internal/forge"
)

// comment has what the library's type lacks.
type comment struct {
	github.IssueComment
	// Via is the application that wrote it in a person's name.
	Via *struct{} `json:"performed_via_github_app"`
}

// Remarks reads the comments below an issue or pull request. Those on lines of a change are Threads.
func (s *Server) Remarks(ctx context.Context, number int) (found []forge.Remark, err error) {
	err = pages(func(page github.ListOptions) ([]comment, *github.Response, error) {
		return get[[]comment](ctx, s, fmt.Sprintf("issues/%d/comments?%s", number, query(page)))
	}, func(c comment) bool {
		found = append(found, c.remark())
		return true
	})
	return found, s.wrap(err, "read the comments on %d", number)
}

func (s *Server) CreateRemark(ctx context.Context, number int, body string) (forge.Remark, error) {
	made, _, err := s.rest.Issues.CreateComment(ctx, s.owner, s.name, number, &github.IssueComment{Body: &body})
	if err != nil {
		return forge.Remark{}, s.wrap(err, "comment on %d", number)
	}
	return comment{IssueComment: *made}.remark(), nil
}

func (s *Server) EditRemark(ctx context.Context, id int64, body string) error {
	_, _, err := s.rest.Issues.EditComment(ctx, s.owner, s.name, id, &github.IssueComment{Body: &body})
	return s.wrap(err, "edit comment %d", id)
}

// Minimize hides a comment as resolved. Only GraphQL can, and it has ids of its own.
func (s *Server) Minimize(ctx context.Context, remark forge.Remark) error {
	found, _, err := s.rest.Issues.GetComment(ctx, s.owner, s.name, remark.ID)
	if err != nil {
		return s.wrap(err, "read comment %d", remark.ID)
	}
	err = s.query(ctx, minimizeMutation, map[string]any{"comment": found.GetNodeID()}, nil)
	return s.wrap(err, "minimize comment %d", remark.ID)
}

// Acknowledge reacts with eyes. GitHub keeps one reaction of a kind for each account.
func (s *Server) Acknowledge(ctx context.Context, remark forge.Remark) error {
	_, _, err := s.rest.Reactions.CreateIssueCommentReaction(ctx, s.owner, s.name, remark.ID, "eyes")
	return s.wrap(err, "acknowledge comment %d", remark.ID)
}
