package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-github/v89/github"

	"signalbox/internal/forge"
)

// Issue reads an issue. GitHub redirects from one that was transferred to the repository that has it now: that is another issue.
func (s *Server) Issue(ctx context.Context, number int) (forge.Issue, error) {
	found, _, err := s.rest.Issues.Get(ctx, s.owner, s.name, number)
	if err == nil && found.IsPullRequest() {
		err = fmt.Errorf("%w (it is a pull request)", forge.ErrNotFound)
	}
	if err == nil {
		err = s.own(ctx, found.GetRepositoryURL())
	}
	if err != nil {
		return forge.Issue{}, s.wrap(err, "read issue %d", number)
	}
	return issue(found), nil
}

// own returns ErrNotFound for the address of another repository. If ours was renamed, GitHub knows it by the new name alone.
func (s *Server) own(ctx context.Context, repository string) error {
	ours := s.at.api.String() + "repos/" + s.owner + "/" + s.name
	if strings.EqualFold(repository, ours) {
		return nil
	}
	present, _, err := s.rest.Repositories.Get(ctx, s.owner, s.name)
	if err != nil {
		return err
	}
	if !strings.EqualFold(repository, present.GetURL()) {
		return fmt.Errorf("%w (it is in another repository)", forge.ErrNotFound)
	}
	return nil
}

// Issues lists by the cheap call where it can, and searches by text and milestone.
func (s *Server) Issues(ctx context.Context, q forge.Query, limit int) (found []forge.Issue, err error) {
	list := s.listing(ctx, q)
	if q.Text != "" || q.Milestone != "" {
		list = s.searching(ctx, q)
	}
	if limit <= 0 {
		return nil, nil
	}
	err = pages(list, func(i *github.Issue) bool {
		if i != nil && !i.IsPullRequest() {
			found = append(found, issue(i))
		}
		return len(found) < limit
	})
	return found, s.wrap(err, "list issues")
}

type lister = func(github.ListOptions) ([]*github.Issue, *github.Response, error)

func (s *Server) listing(ctx context.Context, q forge.Query) lister {
	return func(page github.ListOptions) ([]*github.Issue, *github.Response, error) {
		return s.rest.Issues.ListByRepo(ctx, s.owner, s.name, &github.IssueListByRepoOptions{
			State: q.State, Labels: q.Labels, Assignee: q.Assignee, Creator: q.Author,
			Sort: "created", Direction: "desc", ListOptions: page,
		})
	}
}

// searching drops what the text found elsewhere: a text can name another repository.
func (s *Server) searching(ctx context.Context, q forge.Query) lister {
	return func(page github.ListOptions) ([]*github.Issue, *github.Response, error) {
		result, resp, err := s.rest.Search.Issues(ctx, s.searchText(q), &github.SearchOptions{Sort: "created", Order: "desc", ListOptions: page})
		if err != nil {
			return nil, resp, err
		}
		var own []*github.Issue
		for _, i := range result.Issues {
			if strings.EqualFold(i.GetRepositoryURL(), s.at.api.String()+"repos/"+s.owner+"/"+s.name) {
				own = append(own, i)
			}
		}
		return own, resp, nil
	}
}

func (s *Server) searchText(q forge.Query) string {
	parts := []string{"repo:" + s.owner + "/" + s.name, "is:issue"}
	add := func(qualifier, value string) {
		if value != "" {
			parts = append(parts, qualifier+":"+quoted(value))
		}
	}
	if q.State != "all" {
		add("state", q.State)
		if q.State == "" {
			add("state", "open")
		}
	}
	for _, label := range q.Labels {
		add("label", label)
	}
	add("milestone", q.Milestone)
	add("assignee", q.Assignee)
	add("author", q.Author)
	if q.Text != "" {
		parts = append(parts, q.Text)
	}
	return strings.Join(parts, " ")
}

func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

func (s *Server) CreateIssue(ctx context.Context, title, body string) (forge.Issue, error) {
	made, _, err := s.rest.Issues.Create(ctx, s.owner, s.name, &github.IssueRequest{Title: &title, Body: &body})
	if err != nil {
		return forge.Issue{}, s.wrap(err, "open an issue")
	}
	return issue(made), nil
}

func (s *Server) CloseIssue(ctx context.Context, number int) error {
	_, _, err := s.rest.Issues.Edit(ctx, s.owner, s.name, number,
		&github.IssueRequest{State: github.Ptr("closed"), StateReason: github.Ptr("completed")})
	return s.wrap(err, "close issue %d", number)
}
