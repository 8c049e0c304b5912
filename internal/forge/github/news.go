package github

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// maxChanges bounds one look at the news; the next one goes on.
const maxChanges = 500

// Changes lists issues and pull requests by when they changed. While nothing changes, the call is the same, and so is free.
func (s *Server) Changes(ctx context.Context, since time.Time) (found []forge.Change, err error) {
	err = rest.Pages(func(page url.Values) ([]*issueAnswer, *http.Response, error) {
		query := rest.Filtered(page, "state", "all", "sort", "updated", "direction", "asc", "since", since.UTC().Format(time.RFC3339))
		return rest.Get[[]*issueAnswer](ctx, s.transport, query, "issues")
	}, func(i *issueAnswer) bool {
		if i != nil {
			about := issue(i)
			found = append(found, forge.Change{On: forge.Subject{Number: i.Number, Pull: i.PullRequest != nil}, Labels: about.Labels, Closed: about.Closed, UpdatedAt: about.UpdatedAt})
		}
		return len(found) < maxChanges
	})
	return found, s.wrap(err, "list what changed")
}

type eventAnswer struct {
	ID        int64
	Event     string
	Actor     account
	Label     struct{ Name string }
	CreatedAt time.Time `json:"created_at"`
	// Via is the application that did it in a person's name.
	Via *struct{} `json:"performed_via_github_app"`
}

// events reads what happened to an issue.
func (s *Server) events(ctx context.Context, number int, each func(eventAnswer)) error {
	return rest.Pages(func(page url.Values) ([]eventAnswer, *http.Response, error) {
		return rest.Get[[]eventAnswer](ctx, s.transport, page, "issues/%d/events", number)
	}, func(e eventAnswer) bool {
		each(e)
		return true
	})
}

// Labelings reads who labelled an issue.
func (s *Server) Labelings(ctx context.Context, number int) (found []forge.Labeling, err error) {
	err = s.events(ctx, number, func(e eventAnswer) {
		if e.Event == "labeled" {
			found = append(found, forge.Labeling{ID: e.ID, Label: e.Label.Name, By: e.Actor.Login, ByBot: isBot(e.Actor.Login, e.Actor.Type) || e.Via != nil, At: e.CreatedAt})
		}
	})
	return found, s.wrap(err, "read who labelled issue %d", number)
}

// LastEdit reads when the body was edited, which only GraphQL tells, and when the title was.
func (s *Server) LastEdit(ctx context.Context, number int) (forge.LastEdit, error) {
	var answer struct {
		Repository struct {
			Issue struct{ LastEditedAt *time.Time }
		}
	}
	last := forge.LastEdit{Exact: true}
	err := s.query(ctx, editedQuery, s.numbered(number), &answer)
	if err == nil {
		if at := answer.Repository.Issue.LastEditedAt; at != nil {
			last.At = *at
		}
		err = s.events(ctx, number, func(e eventAnswer) {
			if e.Event == "renamed" && e.CreatedAt.After(last.At) {
				last.At = e.CreatedAt
			}
		})
	}
	return last, s.wrap(err, "read when issue %d was edited", number)
}
