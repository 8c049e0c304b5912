package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// Issue returns an issue, or ErrNotFound if it moved to another project.
func (s *Server) Issue(ctx context.Context, number int) (forge.Issue, error) {
	i, _, err := rest.Get[issue](ctx, s.transport, nil, "issues/%d", number)
	if err == nil && i.MovedTo != nil {
		err = fmt.Errorf("%w: it moved to another project", forge.ErrNotFound)
	}
	if err != nil {
		return forge.Issue{}, s.wrap(err, "read issue %d", number)
	}
	return i.convert(), nil
}

// Issues returns the issues that match, newest first.
func (s *Server) Issues(ctx context.Context, q forge.Query, limit int) (found []forge.Issue, err error) {
	state := map[string]string{"": "opened", "open": "opened", "closed": "closed"}[q.State] // all is the default
	err = rest.Pages(func(page url.Values) ([]issue, *http.Response, error) {
		page.Set("per_page", strconv.Itoa(min(rest.PageSize, limit)))
		return rest.Get[[]issue](ctx, s.transport, rest.Filtered(page, "state", state, "scope", "all", "order_by", "created_at", "sort", "desc", "labels", strings.Join(q.Labels, ","),
			"milestone", q.Milestone, "assignee_username", q.Assignee, "author_username", q.Author, "search", q.Text), "issues")
	}, func(i issue) bool {
		found = append(found, i.convert())
		return len(found) < limit
	})
	return found, s.wrap(err, "list issues")
}

// CreateIssue opens an issue.
func (s *Server) CreateIssue(ctx context.Context, title, body string) (forge.Issue, error) {
	var made issue
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: "issues", In: map[string]string{"title": title, "description": body}, Out: &made})
	if err != nil {
		return forge.Issue{}, s.wrap(err, "open an issue")
	}
	return made.convert(), nil
}

// CloseIssue closes an issue.
func (s *Server) CloseIssue(ctx context.Context, number int) error {
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPut, Path: "issues/%d", Args: []any{number}, In: map[string]string{"state_event": "close"}})
	return s.wrap(err, "close issue %d", number)
}

// pathOf is the path of an issue or a merge request. A path below it has its number as the first argument.
func pathOf(on forge.Subject) string {
	if on.Pull {
		return "merge_requests/%d"
	}
	return "issues/%d"
}

// Label adds and takes labels in one call. GitLab makes those that the project lacks.
func (s *Server) Label(ctx context.Context, on forge.Subject, add, remove []string) error {
	in := map[string]string{}
	if len(add) > 0 {
		in["add_labels"] = strings.Join(add, ",")
	}
	if len(remove) > 0 {
		in["remove_labels"] = strings.Join(remove, ",")
	}
	if len(in) == 0 {
		return nil
	}
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPut, Path: pathOf(on), Args: []any{on.Number}, In: in})
	return s.wrap(err, "label %s", on)
}

// diffNote is the type of a note on lines of a change: those are Threads.
const diffNote = "DiffNote"

// Remarks reads the notes of people and programs, not what GitLab itself notes, and not what is for members alone: an agent could repeat that where
// all may read it.
func (s *Server) Remarks(ctx context.Context, on forge.Subject) (found []forge.Remark, err error) {
	err = s.notes(ctx, on, func(n note) {
		if !n.System && !n.Internal && n.Type != diffNote {
			found = append(found, s.remark(on, n))
		}
	})
	return found, s.wrap(err, "read the comments on %s", on)
}

// notes reads all notes, oldest first.
func (s *Server) notes(ctx context.Context, on forge.Subject, each func(note)) error {
	return rest.Pages(func(page url.Values) ([]note, *http.Response, error) {
		return rest.Get[[]note](ctx, s.transport, rest.Filtered(page, "sort", "asc", "order_by", "created_at"), pathOf(on)+"/notes", on.Number)
	}, func(n note) bool {
		each(n)
		return true
	})
}

// CreateRemark writes a note.
func (s *Server) CreateRemark(ctx context.Context, on forge.Subject, body string) (forge.Remark, error) {
	var made note
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: pathOf(on) + "/notes", Args: []any{on.Number}, In: map[string]string{"body": body}, Out: &made})
	if err == nil && made.ID == 0 { // a text of orders alone is obeyed, and leaves no note
		err = errNoData
	}
	if err != nil {
		return forge.Remark{}, s.wrap(err, "comment on %s", on)
	}
	return s.remark(on, made), nil
}

// EditRemark changes a note.
func (s *Server) EditRemark(ctx context.Context, on forge.Subject, id int64, body string) error {
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPut, Path: pathOf(on) + "/notes/%d", Args: []any{on.Number, id}, In: map[string]string{"body": body}})
	return s.wrap(err, "edit comment %d on %s", id, on)
}

// Acknowledge puts 👀 on a note. GitLab answers 404 if it is there already.
func (s *Server) Acknowledge(ctx context.Context, remark forge.Remark) error {
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: pathOf(remark.On) + "/notes/%d/award_emoji", Args: []any{remark.On.Number, remark.ID},
		In: map[string]string{"name": "eyes"}})
	if err != nil && strings.Contains(err.Error(), "already been taken") {
		return nil
	}
	return s.wrap(err, "acknowledge comment %d on %s", remark.ID, remark.On)
}

// Links reads which issues block one, its parent and its parts.
func (s *Server) Links(ctx context.Context, number int) (links forge.Links, err error) {
	type relation struct {
		issue
		Kind string `json:"link_type"`
	}
	related, _, err := rest.Get[[]relation](ctx, s.transport, nil, "issues/%d/links", number)
	for _, r := range related {
		if r.Kind == "is_blocked_by" && r.State == "opened" && strings.HasPrefix(r.Page, s.page+"/"+s.path+"/-/") {
			links.Needs = append(links.Needs, r.IID)
		}
	}
	if err == nil {
		err = s.hierarchy(ctx, number, &links)
	}
	return links, s.wrap(err, "read what is linked to issue %d", number)
}

// hierarchyQuery: parents and parts are in no REST call. A server that doesn't know it refuses it.
const hierarchyQuery = `query($path: ID!, $number: String!) {
  namespace(fullPath: $path) { workItem(iid: $number) { features { hierarchy {
    parent { iid namespace { fullPath } }
    children(first: 100) { pageInfo { hasNextPage } nodes { iid title state webUrl namespace { fullPath } } }
  } } } }
}`

// workItem is what is read of a part or a parent. Numbers are texts.
type workItem struct {
	IID       int `json:"iid,string"`
	Title     string
	State     string
	Page      string `json:"webUrl"`
	Namespace struct{ FullPath string }
}

// numberIn is the item's number, if it is in this project.
func (w workItem) numberIn(path string) int {
	if !strings.EqualFold(w.Namespace.FullPath, path) {
		return 0
	}
	return w.IID
}

func (s *Server) hierarchy(ctx context.Context, number int, links *forge.Links) error {
	address := s.page + "/api/graphql"
	req, err := s.transport.RequestTo(ctx, "POST graphql", address, map[string]any{"query": hierarchyQuery, "variables": map[string]any{"path": s.path, "number": strconv.Itoa(number)}})
	if err != nil {
		return err
	}
	var answer struct {
		Data struct {
			Namespace struct {
				WorkItem struct {
					Features struct {
						Hierarchy struct {
							Parent   *workItem
							Children struct {
								PageInfo struct{ HasNextPage bool }
								Nodes    []workItem
							}
						}
					}
				}
			}
		}
	}
	_, err = s.transport.Answered(req, &answer)
	if f := (*forge.Failure)(nil); errors.Is(err, forge.ErrNotFound) || errors.As(err, &f) && f.Status/100 == 4 && f.Kind != forge.Limited {
		return nil // a token of a job may not ask, and an old server can't be asked
	}
	if err != nil {
		return err
	}
	found := answer.Data.Namespace.WorkItem.Features.Hierarchy
	if found.Parent != nil {
		links.Parent = found.Parent.numberIn(s.path)
	}
	for _, part := range found.Children.Nodes {
		links.Parts = append(links.Parts, forge.Issue{Number: part.numberIn(s.path), Title: part.Title, Page: part.Page, Closed: part.State == "CLOSED"})
	}
	if found.Children.PageInfo.HasNextPage { // one that isn't read counts as open
		links.Parts = append(links.Parts, forge.Issue{})
	}
	return nil
}
