package gitlab

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// version is a state of a merge request's branch.
type version struct {
	Head      string    `json:"head_commit_sha"`
	CreatedAt time.Time `json:"created_at"`
}

// judgement is an approval, or what a reviewer is noted with.
type judgement struct {
	User       user       `json:"user"`
	State      string     `json:"state"`
	ApprovedAt *time.Time `json:"approved_at"`
}

// Reviews returns who approved, and who asks for changes. GitLab says when someone approved, and not what: it is the version that was there then.
// A server that doesn't say when gives an approval of nothing.
func (s *Server) Reviews(ctx context.Context, number int) (reviews []forge.Review, err error) {
	approvals, _, err := rest.Get[struct {
		By []judgement `json:"approved_by"`
	}](ctx, s.transport, nil, "merge_requests/%d/approvals", number)
	var versions []version
	if err == nil && len(approvals.By) > 0 {
		versions, _, err = rest.Get[[]version](ctx, s.transport, url.Values{"per_page": {"100"}}, "merge_requests/%d/versions", number)
	}
	for _, by := range approvals.By {
		review := forge.Review{Author: by.User.Username, State: forge.Approved}
		if by.ApprovedAt != nil {
			review.At, review.Commit = *by.ApprovedAt, at(versions, *by.ApprovedAt)
		}
		reviews = append(reviews, review)
	}
	var reviewers []judgement
	if err == nil {
		reviewers, _, err = rest.Get[[]judgement](ctx, s.transport, nil, "merge_requests/%d/reviewers", number)
	}
	for _, by := range reviewers {
		if by.State == "requested_changes" && !slices.ContainsFunc(reviews, func(r forge.Review) bool { return r.Author == by.User.Username }) {
			reviews = append(reviews, forge.Review{Author: by.User.Username, State: forge.ChangesWanted})
		}
	}
	if err != nil {
		return nil, s.wrap(err, "list reviews of %d", number)
	}
	return reviews, nil
}

// at returns the head of the newest version that was there at a time.
func at(versions []version, when time.Time) (head string) {
	var newest time.Time
	for _, v := range versions {
		if !v.CreatedAt.After(when) && !v.CreatedAt.Before(newest) {
			head, newest = v.Head, v.CreatedAt
		}
	}
	return head
}

// Threads returns the discussions of lines.
func (s *Server) Threads(ctx context.Context, number int) (threads []forge.Thread, err error) {
	m, err := s.mergeRequest(ctx, number)
	if err == nil {
		err = rest.Pages(func(page url.Values) ([]discussion, *http.Response, error) {
			return rest.Get[[]discussion](ctx, s.transport, page, "merge_requests/%d/discussions", number)
		}, func(d discussion) bool {
			if len(d.Notes) > 0 && d.Notes[0].Type == diffNote {
				threads = append(threads, s.thread(d, forge.OnPull(number), m.Head))
			}
			return true
		})
	}
	return threads, s.wrap(err, "list threads of %d", number)
}

// thread converts a discussion. GitLab moves its line along with new versions, until the line is gone. Nobody in it is called an application: what
// those say counts, and GitLab tells them by their names, which anyone can take. Their rights decide, as people's do.
func (s *Server) thread(d discussion, on forge.Subject, head string) forge.Thread {
	first := d.Notes[0]
	t := forge.Thread{ID: d.ID, Resolved: first.Resolved}
	if p := first.Position; p != nil {
		if t.Path = p.NewPath; t.Path == "" {
			t.Path = p.OldPath
		}
		if p.Head == head {
			t.Line = p.NewLine
		}
	}
	for _, n := range d.Notes {
		if !n.System {
			r := s.remark(on, n)
			r.ByBot = false
			t.Remarks = append(t.Remarks, r)
		}
	}
	return t
}

// Answer replies, and then resolves if asked to. An empty body is no reply.
func (s *Server) Answer(ctx context.Context, number int, t forge.Thread, body string, resolve bool) error {
	if body != "" {
		_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: "merge_requests/%d/discussions/%s/notes", Args: []any{number, t.ID}, In: map[string]string{"body": body}})
		if err != nil {
			return s.wrap(err, "answer in a thread of %d", number)
		}
	}
	if !resolve || t.Resolved {
		return nil
	}
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPut, Path: "merge_requests/%d/discussions/%s", Args: []any{number, t.ID}, In: map[string]bool{"resolved": true}})
	return s.wrap(err, "resolve a thread of %d", number)
}
