package gitlab

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// maxChanges bounds one look at the news of each kind; the next one goes on.
const maxChanges = 500

// Changes lists issues and merge requests by when they changed. GitLab has two lists of them: what one of them was cut at is where both end.
func (s *Server) Changes(ctx context.Context, since time.Time) (found []forge.Change, err error) {
	var end time.Time
	for _, pull := range []bool{false, true} {
		some, err := s.changed(ctx, pull, since)
		if err != nil {
			return nil, s.wrap(err, "list what changed")
		}
		if last := len(some) - 1; len(some) == maxChanges && (end.IsZero() || some[last].UpdatedAt.Before(end)) {
			end = some[last].UpdatedAt
		}
		found = append(found, some...)
	}
	slices.SortStableFunc(found, func(a, b forge.Change) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return slices.DeleteFunc(found, func(c forge.Change) bool { return !end.IsZero() && c.UpdatedAt.After(end) }), nil
}

// changed lists one kind.
func (s *Server) changed(ctx context.Context, pull bool, since time.Time) (found []forge.Change, err error) {
	path, after := "issues", ""
	if pull {
		path = "merge_requests"
	}
	if !since.IsZero() {
		after = since.UTC().Format(time.RFC3339Nano)
	}
	err = rest.Pages(func(page url.Values) ([]issue, *http.Response, error) { // a merge request has the fields that are read here
		return rest.Get[[]issue](ctx, s.transport, rest.Filtered(page, "scope", "all", "order_by", "updated_at", "sort", "asc", "updated_after", after), path)
	}, func(i issue) bool {
		found = append(found, forge.Change{On: forge.Subject{Number: i.IID, Pull: pull}, Labels: i.Labels, Closed: i.State != "opened" && i.State != "locked", UpdatedAt: i.UpdatedAt})
		return len(found) < maxChanges
	})
	return found, err
}

// editNotes are how GitLab's own notes about changes of a text begin. It notes a change of a checked task in place of one of the description, even if
// more of the description changed.
var editNotes = []string{"changed the description", "changed title", "marked the task", "marked the checklist item"}

// LastEdit reads from GitLab's own notes when an issue's text was changed.
func (s *Server) LastEdit(ctx context.Context, number int) (forge.LastEdit, error) {
	last := forge.LastEdit{Exact: true}
	err := s.notes(ctx, forge.OnIssue(number), func(n note) {
		about := func(start string) bool { return strings.HasPrefix(n.Body, start) }
		if n.System && slices.ContainsFunc(editNotes, about) && n.CreatedAt.After(last.At) {
			last.At = n.CreatedAt
		}
	})
	return last, s.wrap(err, "read when issue %d was edited", number)
}

// Labelings reads who labelled an issue.
func (s *Server) Labelings(ctx context.Context, number int) (found []forge.Labeling, err error) {
	type event struct {
		ID        int64     `json:"id"`
		User      user      `json:"user"`
		CreatedAt time.Time `json:"created_at"`
		Action    string    `json:"action"`
		Label     struct {
			Name string `json:"name"`
		} `json:"label"`
	}
	err = rest.Pages(func(page url.Values) ([]event, *http.Response, error) {
		return rest.Get[[]event](ctx, s.transport, page, "issues/%d/resource_label_events", number)
	}, func(e event) bool {
		if e.Action == "add" {
			found = append(found, forge.Labeling{ID: e.ID, Label: e.Label.Name, By: e.User.Username, ByBot: e.User.Bot || isBot(e.User.Username), At: e.CreatedAt})
		}
		return true
	})
	slices.SortStableFunc(found, func(a, b forge.Labeling) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return found, s.wrap(err, "read who labelled issue %d", number)
}
