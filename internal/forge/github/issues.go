package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// Issue reads an issue. GitHub redirects from one that was transferred to the repository that has it now: that is another issue.
func (s *Server) Issue(ctx context.Context, number int) (forge.Issue, error) {
	found, _, err := rest.Get[*issueAnswer](ctx, s.transport, nil, "issues/%d", number)
	if err == nil && found.PullRequest != nil {
		err = forge.ErrPull
	}
	if err == nil {
		err = s.own(ctx, found.RepositoryURL)
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
	present, _, err := rest.Get[repositoryAnswer](ctx, s.transport, nil, "")
	if err != nil {
		return err
	}
	if !strings.EqualFold(repository, present.URL) {
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
	err = rest.Pages(list, func(i *issueAnswer) bool {
		if i != nil && i.PullRequest == nil {
			found = append(found, issue(i))
		}
		return len(found) < limit
	})
	return found, s.wrap(err, "list issues")
}

type lister = func(page url.Values) ([]*issueAnswer, *http.Response, error)

func (s *Server) listing(ctx context.Context, q forge.Query) lister {
	return func(page url.Values) ([]*issueAnswer, *http.Response, error) {
		query := rest.Filtered(page, "state", q.State, "labels", strings.Join(q.Labels, ","), "assignee", q.Assignee, "creator", q.Author,
			"sort", "created", "direction", "desc")
		return rest.Get[[]*issueAnswer](ctx, s.transport, query, "issues")
	}
}

// searching drops what the text found elsewhere: a text can name another repository.
func (s *Server) searching(ctx context.Context, q forge.Query) lister {
	return func(page url.Values) ([]*issueAnswer, *http.Response, error) {
		var result struct{ Items []*issueAnswer }
		query := rest.Filtered(page, "q", s.searchText(q), "sort", "created", "order", "desc")
		resp, err := s.transport.Do(ctx, rest.Call{Method: http.MethodGet, Root: "search/issues", Query: query, Out: &result})
		if err != nil {
			return nil, resp, err
		}
		var own []*issueAnswer
		for _, i := range result.Items {
			if i != nil && strings.EqualFold(i.RepositoryURL, s.at.api.String()+"repos/"+s.owner+"/"+s.name) {
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
	var made issueAnswer
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: "issues", In: map[string]string{"title": title, "body": body}, Out: &made})
	if err != nil {
		return forge.Issue{}, s.wrap(err, "open an issue")
	}
	return issue(&made), nil
}

func (s *Server) CloseIssue(ctx context.Context, number int) error {
	closed := map[string]string{"state": "closed", "state_reason": "completed"}
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPatch, Path: "issues/%d", Args: []any{number}, In: closed})
	return s.wrap(err, "close issue %d", number)
}

// Links reads what is linked to an issue. What its own answer doesn't count costs no call.
func (s *Server) Links(ctx context.Context, number int) (forge.Links, error) {
	var links forge.Links
	about, _, err := rest.Get[issueAnswer](ctx, s.transport, nil, "issues/%d", number)
	if err == nil && about.Parts.Total > 0 {
		links.Parts, err = s.linked(ctx, "issues/%d/sub_issues", number)
	}
	var blockers []forge.Issue
	if err == nil && about.Blocked.By > 0 {
		blockers, err = s.linked(ctx, "issues/%d/dependencies/blocked_by", number)
	}
	if err != nil {
		return links, s.wrap(err, "read what is linked to issue %d", number)
	}
	for _, i := range blockers {
		if !i.Closed && i.Number != 0 {
			links.Needs = append(links.Needs, i.Number)
		}
	}
	ours := s.at.api.String() + "repos/" + s.owner + "/" + s.name + "/issues/"
	if len(about.ParentURL) > len(ours) && strings.EqualFold(about.ParentURL[:len(ours)], ours) {
		links.Parent, _ = strconv.Atoi(about.ParentURL[len(ours):]) // 0 if it is no number
	}
	return links, nil
}

// linked reads a list of issues, which may be in other repositories.
func (s *Server) linked(ctx context.Context, path string, number int) (found []forge.Issue, err error) {
	err = rest.Pages(func(page url.Values) ([]*issueAnswer, *http.Response, error) {
		return rest.Get[[]*issueAnswer](ctx, s.transport, page, path, number)
	}, func(i *issueAnswer) bool {
		if i != nil {
			one := issue(i)
			if !strings.EqualFold(i.RepositoryURL, s.at.api.String()+"repos/"+s.owner+"/"+s.name) {
				one.Number = 0
			}
			found = append(found, one)
		}
		return true
	})
	return found, err
}
