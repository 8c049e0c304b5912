package gitea

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"signalbox/internal/forge"
)

// maxChanges bounds one look at the news. Gitea sorts them by when they were opened, so all of them have to be read.
const maxChanges = 5000

// Changes lists issues and pull requests by when they changed.
func (s *Server) Changes(ctx context.Context, since time.Time) ([]forge.Change, error) {
	query := url.Values{"state": {"all"}, "since": {since.UTC().Format(time.RFC3339)}}
	all, err := pages[issue](ctx, s, request{method: http.MethodGet, path: "issues", query: query}, maxChanges)
	if err != nil {
		return nil, fmt.Errorf("list what changed: %w", err)
	}
	changes := make([]forge.Change, 0, len(all))
	for _, i := range all {
		about := i.convert()
		changes = append(changes, forge.Change{On: forge.Subject{Number: i.Number, Pull: i.PullRequest != nil}, Labels: about.Labels, Closed: about.Closed, UpdatedAt: about.UpdatedAt})
	}
	slices.SortStableFunc(changes, func(a, b forge.Change) int {
		return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.On.Number, b.On.Number))
	})
	return changes, nil
}

// maxTimeline bounds what is read of an issue's history.
const maxTimeline = 5000

// entry is a part of an issue's history.
type entry struct {
	ID        int64     `json:"id"`
	Type      string    `json:"type"`
	User      user      `json:"user"`
	Body      string    `json:"body"` // of a label: 1 if it was added, empty if it was removed
	Label     *label    `json:"label"`
	CreatedAt time.Time `json:"created_at"`
}

func (s *Server) timeline(ctx context.Context, number int) ([]*entry, error) {
	return pages[*entry](ctx, s, request{method: http.MethodGet, path: "issues/%d/timeline", args: []any{number}}, maxTimeline)
}

// Labelings reads who labelled an issue.
func (s *Server) Labelings(ctx context.Context, number int) (found []forge.Labeling, err error) {
	entries, err := s.timeline(ctx, number)
	if err != nil {
		return nil, fmt.Errorf("read who labelled issue %d: %w", number, err)
	}
	for _, e := range entries {
		if e != nil && e.Type == "label" && e.Body == "1" && e.Label != nil {
			found = append(found, forge.Labeling{ID: e.ID, Label: e.Label.Name, By: e.User.Login, ByBot: e.User.bot(), At: e.CreatedAt})
		}
	}
	return found, nil
}

// LastEdit is exact for an issue whose body was never edited: Gitea counts that since 1.26, and its history has the changes of titles. It doesn't
// tell when a body was edited, so of any other issue it's the last change of anything. Forgejo doesn't count.
func (s *Server) LastEdit(ctx context.Context, number int) (forge.LastEdit, error) {
	var i issue
	if _, err := s.call(ctx, request{method: http.MethodGet, path: "issues/%d", args: []any{number}, out: &i}); err != nil {
		return forge.LastEdit{}, fmt.Errorf("read when issue %d was edited: %w", number, err)
	}
	if i.Edits == nil || *i.Edits > 0 {
		return forge.LastEdit{At: i.UpdatedAt}, nil
	}
	entries, err := s.timeline(ctx, number)
	if err != nil {
		return forge.LastEdit{}, fmt.Errorf("read when issue %d was edited: %w", number, err)
	}
	last := forge.LastEdit{Exact: true}
	for _, e := range entries {
		if e != nil && e.Type == "change_title" && e.CreatedAt.After(last.At) {
			last.At = e.CreatedAt
		}
	}
	return last, nil
}
