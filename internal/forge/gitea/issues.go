package gitea

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/forge"
)

// Issue returns an issue. Gitea numbers pull requests together with issues, and has both here.
func (s *Server) Issue(ctx context.Context, number int) (forge.Issue, error) {
	var i issue
	_, err := s.call(ctx, request{method: http.MethodGet, path: "issues/%d", args: []any{number}, out: &i})
	if err == nil && i.PullRequest != nil {
		err = forge.ErrPull
	}
	if err != nil {
		return forge.Issue{}, fmt.Errorf("read issue %d: %w", number, err)
	}
	return i.convert(), nil
}

// Issues returns the issues that match, newest first. Gitea ignores labels and milestones that it doesn't know, so what it lists is compared again.
func (s *Server) Issues(ctx context.Context, q forge.Query, limit int) ([]forge.Issue, error) {
	query := url.Values{"type": {"issues"}}
	for name, value := range map[string]string{"state": q.State, "labels": strings.Join(q.Labels, ","), "milestones": q.Milestone,
		"created_by": q.Author, "assigned_by": q.Assignee, "q": q.Text} {
		if value != "" {
			query.Set(name, value)
		}
	}
	found, err := pages[issue](ctx, s, request{method: http.MethodGet, path: "issues", query: query}, limit)
	if errors.Is(err, forge.ErrNotFound) {
		err = cmp.Or(s.absent(ctx, q.Assignee, q.Author), err)
	}
	if err != nil {
		return nil, fmt.Errorf("list issues: %w", err)
	}
	issues := make([]forge.Issue, 0, len(found))
	for _, i := range found {
		if i.has(q) {
			issues = append(issues, i.convert())
		}
	}
	return issues, nil
}

// absent names the account that the server hasn't; nil if it has them all. A list by an unknown account says no more than "not found".
func (s *Server) absent(ctx context.Context, accounts ...string) error {
	for _, name := range accounts {
		if name == "" {
			continue
		}
		_, err := s.call(ctx, request{method: http.MethodGet, root: "users", path: "%s", args: []any{name}})
		if errors.Is(err, forge.ErrNotFound) {
			return fmt.Errorf("%w: the server has no account %q", forge.ErrNotFound, name)
		}
	}
	return nil
}

// has reports whether the issue has the labels and the milestone, which Gitea takes by name or id.
func (i issue) has(q forge.Query) bool {
	for _, wanted := range q.Labels {
		if !slices.ContainsFunc(i.Labels, func(has label) bool { return strings.EqualFold(has.Name, wanted) }) {
			return false
		}
	}
	return q.Milestone == "" || i.Milestone != nil && (strings.EqualFold(i.Milestone.Title, q.Milestone) || strconv.FormatInt(i.Milestone.ID, 10) == q.Milestone)
}

// CreateIssue opens an issue.
func (s *Server) CreateIssue(ctx context.Context, title, body string) (forge.Issue, error) {
	var i issue
	if _, err := s.call(ctx, request{method: http.MethodPost, path: "issues", in: map[string]any{"title": title, "body": body}, out: &i}); err != nil {
		return forge.Issue{}, fmt.Errorf("open an issue: %w", err)
	}
	return i.convert(), nil
}

// CloseIssue closes an issue.
func (s *Server) CloseIssue(ctx context.Context, number int) error {
	if _, err := s.call(ctx, request{method: http.MethodPatch, path: "issues/%d", args: []any{number}, in: map[string]any{"state": "closed"}}); err != nil {
		return fmt.Errorf("close issue %d: %w", number, err)
	}
	return nil
}

// Remarks returns the comments on an issue or a pull request. Gitea returns all of them at once.
func (s *Server) Remarks(ctx context.Context, on forge.Subject) ([]forge.Remark, error) {
	var found []comment
	if _, err := s.call(ctx, request{method: http.MethodGet, path: "issues/%d/comments", args: []any{on.Number}, out: &found}); err != nil {
		return nil, fmt.Errorf("list comments on %s: %w", on, err)
	}
	remarks := make([]forge.Remark, 0, len(found))
	for _, c := range found {
		remarks = append(remarks, c.convert(on))
	}
	return remarks, nil
}

// CreateRemark writes a comment.
func (s *Server) CreateRemark(ctx context.Context, on forge.Subject, body string) (forge.Remark, error) {
	var c comment
	if _, err := s.call(ctx, request{method: http.MethodPost, path: "issues/%d/comments", args: []any{on.Number}, in: map[string]any{"body": body}, out: &c}); err != nil {
		return forge.Remark{}, fmt.Errorf("comment on %s: %w", on, err)
	}
	return c.convert(on), nil
}

// EditRemark changes a comment. Its id is unique in the repository.
func (s *Server) EditRemark(ctx context.Context, _ forge.Subject, id int64, body string) error {
	if _, err := s.call(ctx, request{method: http.MethodPatch, path: "issues/comments/%d", args: []any{id}, in: map[string]any{"body": body}}); err != nil {
		return fmt.Errorf("edit comment %d: %w", id, err)
	}
	return nil
}

// Acknowledge puts 👀 on a comment.
func (s *Server) Acknowledge(ctx context.Context, remark forge.Remark) error {
	if _, err := s.call(ctx, request{method: http.MethodPost, path: "issues/comments/%d/reactions", args: []any{remark.ID}, in: map[string]any{"content": "eyes"}}); err != nil {
		return fmt.Errorf("acknowledge comment %d: %w", remark.ID, err)
	}
	return nil
}

// Links reads which issues block one: Gitea's dependencies. It has no parents and parts.
func (s *Server) Links(ctx context.Context, number int) (links forge.Links, err error) {
	type blocker struct {
		issue
		Repository struct {
			FullName string `json:"full_name"`
		} `json:"repository"`
	}
	found, err := pages[blocker](ctx, s, request{method: http.MethodGet, path: "issues/%d/dependencies", args: []any{number}}, maxLinks)
	if errors.Is(err, forge.ErrNotFound) { // the repository has none
		return links, nil
	}
	if err != nil {
		return links, fmt.Errorf("read what is linked to issue %d: %w", number, err)
	}
	for _, b := range found {
		if b.State == "open" && b.PullRequest == nil && strings.EqualFold(b.Repository.FullName, s.owner+"/"+s.name) {
			links.Needs = append(links.Needs, b.Number)
		}
	}
	return links, nil
}

// maxLinks bounds what is read of an issue's dependencies.
const maxLinks = 100
